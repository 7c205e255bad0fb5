package extrema

import "eccbench/internal/isa"

// The instruction sets, the fastest first.
const (
	AVX512   = isa.AVX512
	AVX2     = isa.AVX2
	Portable = isa.Portable
)

// ISAs lists every instruction set, the fastest first.
func ISAs() []string { return isa.All() }

// available lists the instruction sets of this program on this machine, the fastest first.
func available() []string { return isa.Available(assembled) }

// choose returns the requested instruction set, or the fastest for "".
func choose(asked string) (string, error) { return isa.Choose(asked, available()) }
