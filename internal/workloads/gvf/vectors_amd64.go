//go:build amd64 && !noasm

package gvf

import "eccbench/internal/isa"

// sets are those of this machine, the longest vectors first.
var sets = func() (list []vectors) {
	for _, name := range isa.Available(true) {
		switch name {
		case isa.AVX512:
			list = append(list, vectors{name, 16, define2DAVX512, define3DAVX512})
		case isa.AVX2:
			list = append(list, vectors{name, 8, define2DAVX2, define3DAVX2})
		}
	}
	return list
}()
