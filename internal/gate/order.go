package gate

import (
	"math/rand/v2"
	"slices"
)

// A step is one cell in one block: its sides run one after another.
type step struct {
	block, cell int
	sides       []Side
}

// order returns the steps of a round. Each block has each cell once, in random order. The sides of
// a cell are in random order, then mirrored (ABBA), so that drift favours none of them.
func order(seed uint64, round, blocks int, cells []int, sides []Side) []step {
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	var steps []step
	for block := range blocks {
		of := slices.Clone(cells)
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		for _, cell := range of {
			s := slices.Clone(sides)
			rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
			mirrored := slices.Clone(s)
			slices.Reverse(mirrored)
			steps = append(steps, step{block, cell, append(s, mirrored...)})
		}
	}
	return steps
}
