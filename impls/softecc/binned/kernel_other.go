//go:build !amd64 || noasm

package binned

// assembled says that this program has vector instructions.
const assembled = false

func vector() kernel[float32] { panic("binned: no vector instructions") }
