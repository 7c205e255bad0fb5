package crew_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"eccbench/internal/crew"
)

// Cores that unite random nodes leave the components that one leaves which relabels all, and
// succeed as often as components become fewer.
func TestUniteFromSeveralCores(t *testing.T) {
	const nodes, links, cores = 5000, 4000, 4
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		label := make([]int, nodes)
		parents := make(crew.Parents, nodes)
		for v := range nodes {
			label[v], parents[v] = v, uint32(v)
		}
		pairs := make([][2]uint32, links)
		components := nodes
		for i := range pairs {
			a, b := random.IntN(nodes), random.IntN(nodes)
			pairs[i] = [2]uint32{uint32(a), uint32(b)}
			if from, to := label[a], label[b]; from != to {
				components--
				for v, l := range label {
					if l == from {
						label[v] = to
					}
				}
			}
		}
		var joined atomic.Int64
		var wg sync.WaitGroup
		for part := range slices.Chunk(pairs, links/cores) {
			wg.Go(func() {
				for _, p := range part {
					if parents.Unite(p[0], p[1]) {
						joined.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if n := nodes - int(joined.Load()); n != components {
			t.Errorf("seed %d: %d components, want %d", seed, n, components)
		}
		of := map[uint32]int{}
		for v := range nodes {
			root := parents.Find(uint32(v))
			if l, seen := of[root]; seen && l != label[v] {
				t.Fatalf("seed %d: node %d is in a component with others that it is not joined with", seed, v)
			}
			of[root] = label[v]
		}
		if len(of) != components {
			t.Errorf("seed %d: %d roots, want %d", seed, len(of), components)
		}
	}
}
