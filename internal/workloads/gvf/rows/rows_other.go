//go:build !amd64 || noasm

package rows

// assembled says that this program has vector instructions.
const assembled = false

func kernel(string) Kernel { return Portable }

func kit(string) *Kit { return &portable }
