//go:build !amd64 || noasm

package ecc

// assembled says that this program has vector instructions.
const assembled = false

func planesOf(string) planeKernel { return portablePlanes() }
