// Package betticurves writes the vector instructions of Betti curves by duality.
package betticurves

// Write writes all functions of an instruction set.
func Write(isa string) {
	switch isa {
	case "avx512":
		for _, bytes := range []int{1, 2, 4} {
			compare512(bytes)
		}
		links()
		set()
		around()
	case "avx2":
		compare256()
	}
}
