//go:build !amd64 || noasm

package fingerprint

import "eccbench/internal/grid"

// assembled means that this program contains vector instructions.
const assembled = false

func kernelOf(string) kernel { return portable() }

func vectorised(grid.Ladder, string) vectors { return vectors{} }

func multiplying(string) func(dst, table *uint64, src *byte, n, ahead int) int { return nil }

func countVectorsOf(string, int, order) (v countVectors, vector int64, ok bool) { return v, 0, false }

func laneVectorsOf(string, grid.Type, grid.Ladder, uint16, int64) (group int64, fast,
	whole func(dst, src *byte, n, rows, stride, apart int) int) {
	return 1, nil, nil
}

func ordered(string) bool { return false }

func keysOf(string) (group int64, keys func(dst, src *byte, n, rows, stride, apart int, before, after uint64) int) {
	return 1, nil
}

func timesOf(string) func(weights *uint64, counts *int32, n int, outside uint64) uint64 { return nil }
