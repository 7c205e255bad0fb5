//go:build !amd64 || noasm

package fingerprint

import "eccbench/internal/grid"

// assembled says that this program has vector instructions.
const assembled = false

func kernelOf(string) kernel { return portable() }

func vectorised(grid.Ladder, string) vectors { return vectors{} }

func multiplying(string) func(dst, table *uint64, src *byte, n, ahead int) int { return nil }

func levelVectorsOf(string) levelVectors { return levelVectors{} }

func levelRowsOf(string, grid.Type, grid.Ladder, uint16) (fast, exactly levelRows) {
	return nil, nil
}

func turnVectorsOf(string, grid.Type, bool) (v turnVectors, lookUp lookUps, ok bool) {
	return v, lookUp, false
}
