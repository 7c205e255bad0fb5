package ecc

import (
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Cost is the cost of a shard of a curve in bytes, estimated rather high.
type Cost struct{ Reads, Memory, Part int64 }

// Memory of a shard in addition to its slabs: the program, the tiles and buffers of each core, and
// the entries of each step, or of each change that no table sums, while they are sorted.
const (
	programBytes = 48 << 20
	coreBytes    = 2 << 20
	stepBytes    = 48
	viewSlices   = 3
	// partBytes is an upper bound of a step in a part file, for changes of few bytes.
	partBytes = 7
)

// ShareOf estimates the cost of InShare with the implementation that supports every float32.
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
	// The slice shared with the previous shard is read together with its whole step of slices.
	cost := Cost{Reads: (n + (reads-n)*grid.Step(s)) * size, Memory: programBytes + int64(threads)*coreBytes +
		grid.PieceBytes(s, of) + grid.CachedBytes(s)}
	steps := min(levels, 8*reads*s.Shape().SliceVoxels()) // a 3D voxel has eight cells
	if s.Ladder().Indexed() {
		k := fingerprint.Draw(1).ForLevels(levels)
		cost.Memory += 8 * levels * int64(k.Functions()+threads+3)
	} else { // each voxel changes at most one level of its own
		plane := s.Shape().SliceVoxels()
		steps = reads * plane
		cost.Memory += stepBytes * min(steps, max(SpilledVoxels, fewestSpilled*plane)+plane)
	}
	if _, whole := s.(*grid.Field); whole {
		cost.Memory += grid.TotalBytes(s)
	}
	if c != (Convention{}) { // views need the memory of a piece, and each core reads at least three slices of it
		cost.Memory += grid.PieceBytes(s, of) + viewSlices*size*min(int64(threads), n+1)
	}
	cost.Part = partBytes*steps + 16*reads + s.Ladder().TableBytes() + 4096
	return cost
}
