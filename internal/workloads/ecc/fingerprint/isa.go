package fingerprint

import "eccbench/internal/isa"

// available lists the instruction sets of this program on this machine, the fastest first.
func available() []string { return isa.Available(assembled) }

func fastest() string { return available()[0] }
