//go:build !amd64 || noasm

package duality

// assembled means that this program contains vector instructions.
const assembled = false

func kernelOf[K key](string) kernel[K] { return portable[K]() }
