//go:build !amd64 || noasm

package vectors

// assembled reports that this program has vector instructions.
const assembled = false

// Of returns no vector functions.
func Of(string) Set { return Set{} }
