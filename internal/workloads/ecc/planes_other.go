//go:build !amd64 || noasm

package ecc

// assembled means that this program contains vector instructions.
const assembled = false

func planesOf(string) planeKernel { return portablePlanes() }
