//go:build !amd64 || noasm

package binned

// assembled reports whether this program has vector instructions.
const assembled = false

func vector(string) kernel[float32] { panic("binned: no vector instructions") }
