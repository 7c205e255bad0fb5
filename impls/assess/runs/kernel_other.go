//go:build !amd64 || noasm

package runs

// assembled reports whether this program has vector instructions.
const assembled = false

func counterOf(string) counter { return addEuler }
