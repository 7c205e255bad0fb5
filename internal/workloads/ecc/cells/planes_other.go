//go:build !amd64 || noasm

package cells

// Assembled means that this program contains vector instructions.
const Assembled = false

func planesOf(string) planeKernel { return portablePlanes() }
