// Package isa reports the vector instruction sets of a machine.
package isa

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

// All lists every instruction set, the fastest first.
func All() []string { return []string{AVX512, AVX2, Portable} }

// Available lists the instruction sets of this machine, the fastest first. assembled reports
// whether the program has assembly for them.
func Available(assembled bool) []string {
	var list []string
	if assembled && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL &&
		cpu.X86.HasAVX512VBMI2 {
		list = append(list, AVX512)
	}
	if assembled && cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 {
		list = append(list, AVX2)
	}
	return append(list, Portable)
}

// FMA reports whether the machine multiplies and adds at once, as nearly all with AVX2 do.
func FMA() bool { return cpu.X86.HasFMA }

// Choose returns the requested instruction set, or the fastest available one for "".
func Choose(asked string, available []string) (string, error) {
	switch {
	case asked == "":
		return available[0], nil
	case !slices.Contains(available, asked):
		return "", fmt.Errorf("instruction set %s is not available here: this program has %s on this machine",
			asked, strings.Join(available, ", "))
	}
	return asked, nil
}

// Bytes reports whether a machine with AVX512 looks up bytes in tables of 64 and multiplies
// them: VBMI and VNNI, as all with VBMI2 do so far.
func Bytes() bool { return cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VNNI }

// Counts reports whether a machine with AVX512 counts the bits of words of a vector: VPOPCNTDQ, as all with VBMI2 do
// so far.
func Counts() bool { return cpu.X86.HasAVX512VPOPCNTDQ }

// Matrices reports whether a machine with AVX512 multiplies matrices of bits: GFNI, as all with VBMI2 do so far.
func Matrices() bool { return cpu.X86.HasAVX512GFNI }
