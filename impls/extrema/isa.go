package extrema

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"
)

// The instruction sets, the fastest first.
const (
	AVX512   = "avx512"   // F, BW, DQ, VL, VBMI2
	AVX2     = "avx2"     // AVX2, BMI1, BMI2
	Portable = "portable" // Go alone
)

// ISAs lists every instruction set, the fastest first.
func ISAs() []string { return []string{AVX512, AVX2, Portable} }

// available lists those of this program on this machine, the fastest first.
func available() []string {
	var list []string
	if assembled && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI2 {
		list = append(list, AVX512)
	}
	if assembled && cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		list = append(list, AVX2)
	}
	return append(list, Portable)
}

// choose is the instruction set that was asked for, or the fastest for "".
func choose(asked string) (string, error) {
	list := available()
	switch {
	case asked == "":
		return list[0], nil
	case !slices.Contains(list, asked):
		return "", fmt.Errorf("instruction set %s is not available here: this program has %s on this machine", asked, strings.Join(list, ", "))
	}
	return asked, nil
}
