//go:build !amd64 || noasm

package extrema

// assembled means that this program contains vector instructions.
const assembled = false

func kernels8(string) kernels[uint8, int8]    { return portable[uint8, int8]() }
func kernels16(string) kernels[uint16, int16] { return portable[uint16, int16]() }
func kernels32(string) kernels[uint32, int32] { return portable[uint32, int32]() }
