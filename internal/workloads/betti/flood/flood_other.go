//go:build !amd64 || noasm

package flood

// assembled reports whether this program has vector instructions.
const assembled = false

func floodKernelOf(string) floodKernel { return portableFlood() }
