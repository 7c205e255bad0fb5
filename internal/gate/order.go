package gate

import (
	"math/rand/v2"
	"slices"
)

// A step is one cell of one block: the sides run one after another.
type step struct {
	block, cell int
	sides       []Side
}

// order is the steps of a round: in every block each of the cells once, in a
// random order, each with its sides in a random order that is then mirrored
// (ABBA), so that what drifts favours none of them.
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
