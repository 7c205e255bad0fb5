//go:build !amd64 || noasm

package rows

// assembled reports whether this program has vector instructions.
const assembled = false

func kernel(string) Kernel { return Portable }

func kit(string) *Kit { return &portable }
