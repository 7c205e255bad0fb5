//go:build !amd64 || noasm

package datasets

// assembled reports that this program has vector instructions.
const assembled = false

func vectorsOf(string) vectors { return vectors{} }
