package fingerprint

import "eccbench/internal/grid"

// On is Below by one instruction set.
func On(isa string, s grid.Source, k Key, top int64, threads int) (Sum, error) {
	return below(s, k, top, threads, isa)
}

// Available lists the instruction sets of this program on this machine.
func Available() []string { return available() }
