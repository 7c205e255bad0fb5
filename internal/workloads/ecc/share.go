package ecc

import (
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Cost is what a share of a curve takes, in bytes: an estimate, rather more than less.
type Cost struct{ Reads, Memory, Part int64 }

// What a share takes beside its slabs: the program, a core's tiles and buffers, and of each
// step, or of each change that no table adds up, its entries while they are sorted.
const (
	programBytes = 48 << 20
	coreBytes    = 2 << 20
	stepBytes    = 48
	viewSlices   = 3
	// partBytes is what a step of a part takes, at most, where changes are of few bytes.
	partBytes = 7
)

// ShareOf is the cost of InShare, by the implementation that counts every float32.
func ShareOf(s grid.Source, c Convention, of grid.Span, threads int) Cost {
	size, n := grid.SliceBytes(s), of.Len()
	if n == 0 {
		return Cost{Memory: programBytes}
	}
	reads := n
	if of.Lo > 0 {
		reads++
	}
	if c.Periodic.Slices(s.Shape()) && of.Hi == s.Shape().Slices() && of.Lo > 1 {
		reads++
	}
	levels := s.Ladder().Len()
	// A slice that is not the shard's own is read with those that are read together.
	cost := Cost{Reads: (n + (reads-n)*grid.Step(s)) * size, Memory: programBytes + int64(threads)*coreBytes + grid.PieceBytes(s, of) + grid.Held(s)}
	steps := min(levels, 8*reads*s.Shape().SliceVoxels()) // a voxel has eight cells in 3D
	if s.Ladder().Indexed() {
		k := fingerprint.Draw(1).For(levels)
		cost.Memory += 8 * levels * int64(k.Functions()+threads+3)
	} else { // of a voxel that changes anything there is one level
		plane := s.Shape().SliceVoxels()
		steps = reads * plane
		cost.Memory += stepBytes * min(steps, max(SpilledVoxels, fewestSpilled*plane)+plane)
	}
	if _, whole := s.(*grid.Field); whole {
		cost.Memory += grid.TotalBytes(s)
	}
	if c != (Convention{}) { // a view of each piece is read, by each core three slices at least
		cost.Memory += grid.PieceBytes(s, of) + viewSlices*size*min(int64(threads), n+1)
	}
	cost.Part = partBytes*steps + 16*reads + s.Ladder().TableBytes() + 4096
	return cost
}
