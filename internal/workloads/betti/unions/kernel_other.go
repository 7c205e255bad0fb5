//go:build !amd64 || noasm

package unions

// assembled reports whether this program has vector instructions.
const assembled = false

func kernelOf[K key](string) kernel[K] { return portable[K]() }
