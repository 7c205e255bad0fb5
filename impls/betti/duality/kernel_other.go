//go:build !amd64 || noasm

package duality

// assembled says that this program has vector instructions.
const assembled = false

func kernelOf(string) kernel { return portable() }
