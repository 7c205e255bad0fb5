// Package matching counts the matched features of pairs of masks on an NVIDIA device, for the
// Betti-matching error of a batch.
package matching

import (
	"fmt"
	"math"
	"math/bits"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti/counting"
)

// MostWords is the largest number of words of a mask, of 64 voxels of a row each. Nodes of more words
// would exceed 32 bits.
const MostWords = 1 << 25

const (
	block     = 256            // threads
	packWords = 4              // words per warp
	mostDeep  = 4              // that of the planes of a tile
	tileBytes = 32 * 4 * block // the nodes of a tile

	// Bytes of a word of a pair: bits of two masks, and 32 nodes of the union and of both complements.
	bitBytes, nodeBytes = 2 * 8, 3 * 32 * 4

	mostAxis   = math.MaxInt32 / 8 // as of the kernels for numbers
	mostBlocks = 1 << 16           // of the witness, whose threads take several voxels
)

// Open loads the kernels that join runs of voxels (kernels/betti/matching.h), for pairs of masks of
// uint8. A pair is the prediction, then the truth; voxels other than 0 are in a mask. With corners the
// masks are connected at edges and corners (construction T), else at faces. The answer is the matched
// features of dimension 0 and of the highest one, as in the workload assess, and the number of voxels
// that only one mask has.
func Open(d device.Guest, s grid.Shape, corners bool) (*counting.Batch, error) {
	across := grid.CeilDiv(s.W, 64)
	words := s.D * s.H * across
	if most := max(s.D, s.H, s.W); most > mostAxis || words > MostWords {
		return nil, fmt.Errorf("%v: an axis of %d and %d rows of 64 voxels, and the kernels support at most %d and %d; "+
			"compare the masks on the host", s, most, words, mostAxis, MostWords)
	}
	return open(d, s, counting.Plan{
		Module: "betti_matching",
		Scratch: []counting.Scratch{
			{Name: "bits of masks", Bytes: bitBytes * words}, {Name: "nodes of runs", Bytes: 4 + nodeBytes*words},
		},
		Launches: func(m counting.Memory) []counting.Launch {
			kernel := func(what string, blocks, shared int64, args ...any) counting.Launch {
				return counting.Launch{Kernel: "betti_matching_" + what, Blocks: blocks, Threads: block, Shared: shared, Args: args}
			}
			deep := min(int64(bits.Len64(uint64(s.D-1))), mostDeep)
			tiles := across * grid.CeilDiv(s.H, block>>deep) * grid.CeilDiv(s.D, 1<<deep)
			w, h, d, packed := int32(s.W), int32(s.H), int32(s.D), m.Scratch[0]
			of := []any{packed, w, h, d, device.Flag(corners), int32(deep), m.Scratch[1]}
			return []counting.Launch{
				kernel("pack", grid.CeilDiv(32*grid.CeilDiv(words, packWords), block), 0, m.Image, w, h, d, packed, m.Counts),
				kernel("tiles", 3*tiles, tileBytes, of...), kernel("link", 3*tiles, 0, of...),
				kernel("mark", 2*tiles, 0, append(of, m.Counts)...),
			}
		},
	}, "betti_matching_numbers")
}

// OpenWitness loads the kernels that label voxels (kernels/betti/betti_labels.cu). They share no code
// with those of Open, and support the same shapes.
func OpenWitness(d device.Guest, s grid.Shape, corners bool) (*counting.Batch, error) {
	n := s.Voxels()
	return open(d, s, counting.Plan{
		Module: "betti_labels",
		Scratch: []counting.Scratch{
			{Name: "labels", Bytes: 4 * (n + 1)}, {Name: "masks that labels meet", Bytes: 2 * (n + 1)},
		},
		Launches: func(m counting.Memory) (list []counting.Launch) {
			for _, around := range []bool{false, true} {
				kernel := func(what string, args ...any) counting.Launch {
					return counting.Launch{Kernel: what, Blocks: min(grid.CeilDiv(n, block), mostBlocks), Threads: block,
						Args: args}
				}
				of := []any{m.Image, int32(s.W), int32(s.H), int32(s.D), device.Flag(around), device.Flag(around != corners),
					m.Scratch[0], m.Scratch[1], m.Counts}
				flatten := kernel("betti_labels_flatten", m.Scratch[0], n+1)
				list = append(list, kernel("betti_pair_begin", of...), flatten, kernel("betti_pair_link", of...), flatten,
					kernel("betti_pair_meet", of...), kernel("betti_pair_count", of...))
			}
			return list
		},
	}, "betti_pair_numbers")
}

// open loads the kernels of a plan. The kernel called numbers adds the counts of a pair.
func open(d device.Guest, s grid.Shape, p counting.Plan, numbers string) (*counting.Batch, error) {
	p.Counts, p.Answer = counting.SumCounts, 3
	p.Numbers = func(counts, answer device.Buffer) counting.Launch {
		return counting.Launch{Kernel: numbers, Blocks: 1, Threads: 32, Args: []any{counts, answer}}
	}
	return counting.OpenBatch(d, p, 2*s.Voxels(), 1, false)
}
