//go:build !amd64 || noasm

package vectors

// assembled reports that this program has vector instructions.
const assembled = false

// ForISA returns no vector functions.
func ForISA(string) Set { return Set{} }
