package betti

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/flood"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// MostSets is the greatest number of sets of an image at a time.
const MostSets = grid.MaxRanks

// Growing returns the indices of some values in the order in which their sets grow.
func Growing(at []grid.Number, superlevel bool) []int {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int {
		if superlevel {
			i, k = k, i
		}
		return at[i].Compare(at[k])
	})
	return order
}

// Sets shows an image as uint8: the number of its sets that do not contain a voxel. The sets belong
// to some values, in growing order, so the sublevel set at level k is set k. No set contains masked
// voxels.
func Sets(s grid.Source, at []grid.Number, c ecc.Convention) (grid.Source, error) {
	if len(at) == 0 || len(at) > MostSets {
		return nil, fmt.Errorf("%d sets: want 1 to %d at a time", len(at), MostSets)
	}
	ladder, err := grid.Affine(0, 1, int64(len(at)+1))
	var thresholds []float32
	for _, i := range Growing(at, false) {
		thresholds = append(thresholds, Threshold(s, at[i], c.Superlevel))
	}
	v := sets{Source: s, ladder: ladder, masked: c.Masked,
		ranks: grid.NewRanking(thresholds, c.Superlevel)}
	switch s.Type() {
	case grid.Uint8:
		v.table = tabled[uint8](v, 1<<8)
	case grid.Uint16:
		v.table = tabled[uint16](v, 1<<16)
	case grid.Int16:
		v.table = tabled[int16](v, 1<<16)
	}
	return v, err
}

type sets struct {
	grid.Source
	ranks  *grid.Ranking[float32]
	masked bool
	ladder grid.Ladder
	table  []uint8 // by bit pattern of an integer
}

func (s sets) Type() grid.Type     { return grid.Uint8 }
func (s sets) Ladder() grid.Ladder { return s.ladder }
func (s sets) Step() int64         { return grid.Step(s.Source) }
func (s sets) CachedBytes() int64  { return grid.CachedBytes(s.Source) }
func (s sets) ScratchBytes() int64 {
	if s.Source.Type() == grid.Uint8 {
		return grid.ScratchBytes(s.Source)
	}
	return grid.SliceBytes(s.Source) + grid.ScratchBytes(s.Source)
}
func (s sets) InBulk() bool { return grid.InBulk(s.Source) }

// rank converts values and checks each of them. first is the index of the first value in the image.
// Masked voxels are +Inf.
func (s sets) rank(to []byte, values []float32, first int64) error {
	for n := 0; len(values) > 0; to, values, first = to[n:], values[n:], first+int64(n) {
		if n = len(values); s.masked {
			for n = 0; n < len(values) && !(values[n] > math.MaxFloat32); n++ {
			}
		}
		s.ranks.Rank(to[:n], values[:n])
		if err := s.ranks.Confirm(to, values[:n]); err != nil {
			return cmp.Or(grid.Finite(values[:n], first, s.Shape()), err)
		}
		for ; s.masked && n < len(values) && values[n] > math.MaxFloat32; n++ {
			to[n] = uint8(s.ladder.Len() - 1)
		}
	}
	return nil
}

// tabled returns the converted value for each bit pattern of a type.
func tabled[T uint8 | uint16 | int16](s sets, n int) []uint8 {
	table, values := make([]uint8, n), make([]float32, n)
	for i := range values {
		values[i] = float32(T(i))
	}
	s.ranks.Rank(table, values)
	return table
}

func (s sets) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	from := s.Source.Type()
	if from == grid.Uint8 {
		if err := s.Source.ReadSlab(dst, lo, hi); err != nil {
			return err
		}
		for i, v := range dst {
			dst[i] = s.table[v]
		}
		return nil
	}
	size := grid.SliceBytes(s.Source)
	step := max(1, setsBytes/size)
	slab := grid.NewBuffer(min(step, hi-lo) * size)
	for z := lo; z < hi; z += step {
		part := slab[:(min(hi, z+step)-z)*size]
		if err := s.Source.ReadSlab(part, z, min(hi, z+step)); err != nil {
			return err
		}
		to := dst[(z-lo)*size/from.Size():][:int64(len(part))/from.Size()]
		switch from {
		case grid.Float32:
			if err := s.rank(to, grid.Values[float32](part), z*s.Shape().SliceVoxels()); err != nil {
				return err
			}
		default: // patterns of 16 bits
			for i, v := range grid.Values[uint16](part) {
				to[i] = s.table[v]
			}
		}
	}
	return nil
}

// setsBytes is about the size of one read of an image.
const setsBytes = 4 << 20

// A Share collects one slab for each set from some slices of an image; it has none if there are no
// slices. The slabs supplement the contributions to the Euler characteristics.
type Share struct {
	Slabs []Slab
	by    Slabber
	c     ecc.Convention
	flat  bool
	cores int

	whole  int64 // number of slices of the image
	begins bool  // the image begins with the first piece
	next   int64 // the first slice of the next piece

	filled []Slab // the same slabs by flood fill
}

// InShare returns the workload of the contribution of some slices to the Euler characteristic of
// each set, like ecc.InShare. The image is the output of Sets. It also returns the fingerprint and
// the Share, both valid after the answer. The fingerprint verifies the answer, and flood fill
// verifies the components.
func InShare(w bench.Workload[grid.Source, ecc.VCEC], by Slabber, in grid.Source, c ecc.Convention,
	of grid.Span, key fingerprint.Key,
	threads int) (bench.Workload[grid.Source, ecc.VCEC], func() fingerprint.Sum, *Share) {
	s := &Share{
		by: by, c: c, flat: in.Shape().Dim() == 2, cores: threads,
		whole: in.Shape().Slices(), begins: of.Lo == 0, next: max(0, of.Lo-1),
	}
	w, sum := ecc.InShare(w, c, of, key, ecc.PieceHooks{See: s.see})
	w.Policy.Laws[0].Independent = false // it does not check the components
	w.Policy.Laws = append(w.Policy.Laws, verify.Law[grid.Source, ecc.VCEC]{
		Name: FloodName, Independent: true,
		Check: func(grid.Source, ecc.VCEC, verify.Ask[grid.Source, ecc.VCEC]) (*verify.Diff, error) {
			for k, filled := range s.filled {
				if d := filled.firstDifference(s.Slabs[k], s.flat, c.Vertices); d != nil {
					d.Where = fmt.Sprintf("set %d: %s", k+1, d.Where)
					return d, nil
				}
			}
			return nil, nil
		},
	})
	return w, sum, s
}

// ShareOf estimates the cost of InShare, rather too high, for an image that Sets shows as counted.
func ShareOf(s, counted grid.Source, c ecc.Convention, of grid.Span, threads int) ecc.Cost {
	c.Superlevel = false
	cost := ecc.ShareOf(counted, c, of, threads)
	n := of.Len()
	if n == 0 {
		return cost
	}
	cost.Reads = ecc.ShareOf(s, c, of, threads).Reads
	plane := counted.Shape().SliceVoxels()
	slices := grid.PieceSlices(counted, of)
	piece := slices * plane
	const runs, bit = 4 * 5 / 8., 1 / 8. // runs take 5/8 of 4 bytes, a set one bit per voxel
	live := int64((runs + bit) * float64(piece))
	if c.Vertices {
		live += piece + piece/2 // the complement with a layer
	}
	// A piece takes 24 bytes. At most a quarter of the voxels are pieces of the set, and half of
	// them pieces of the complement, at both ends of a filled slab. The lists of the first and the
	// last plane are additional.
	const pieces, listed = 24 * 3 / 4 * 2, 16
	live += (pieces*min(int64(threads)+1, (slices-1)/flood.LeastPlanes+1) + listed) * plane
	cost.Memory += 2 * live // garbage may take the same amount until its collection
	// A plane has at most a component for each quarter of its voxels in the set, and for each half
	// in the complement.
	const components, bytes = 3 / 4., 4
	sets := float64(counted.Ladder().Len() - 1)
	cost.Part += int64(sets * 2 * components * bytes * float64(plane))
	return cost
}

// see adds a piece.
func (s *Share) see(piece *grid.Field, times int64) error {
	if times < 0 { // a slice of two pieces
		return nil
	}
	n := piece.Shape().Slices()
	if !s.flat && piece.Shape().Dim() == 2 {
		n = 1
	}
	first := s.Slabs == nil
	ends := [2]bool{first && s.begins, s.next+n == s.whole}
	levels := int(piece.Ladder().Len()) - 1
	if first {
		s.Slabs, s.filled = make([]Slab, levels), make([]Slab, levels)
	}
	for k := range levels {
		p := Piece{Image: &Image{piece, float32(k)}, Vertices: s.c.Vertices, Flat: s.flat, Ends: ends}
		var said, filled Slab
		var errs [2]error
		var wg crew.Group
		wg.Go(func() { said, errs[0] = s.by.Slab(p, s.cores) })
		wg.Go(func() { filled, errs[1] = floodSlab(p, s.cores) })
		wg.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		if !first {
			if said, errs[0] = Join(s.Slabs[k], said); errs[0] != nil {
				return errs[0]
			}
			if filled, errs[1] = Chain([]Slab{s.filled[k], filled}); errs[1] != nil {
				return errs[1]
			}
		}
		s.Slabs[k], s.filled[k] = said, filled
	}
	s.next += n - 1
	return nil
}

// A Merging joins the slabs of several sets of an image. Chain verifies the result of Join.
type Merging struct{ joined, filled []Slab }

// Add adds the slabs of the next slices, one of each set.
func (m *Merging) Add(slabs []Slab) (err error) {
	if m.joined == nil {
		m.joined, m.filled = slabs, slices.Clone(slabs)
		return nil
	}
	if len(slabs) != len(m.joined) {
		return fmt.Errorf("slabs of %d sets, of %d", len(slabs), len(m.joined))
	}
	for k, slab := range slabs {
		if m.joined[k], err = Join(m.joined[k], slab); err != nil {
			return err
		}
		if m.filled[k], err = Chain([]Slab{m.filled[k], slab}); err != nil {
			return err
		}
	}
	return nil
}

// Slabs returns the joined slab of each set, or a difference between the two ways to join.
func (m *Merging) Slabs(flat, vertices bool) ([]Slab, *verify.Diff) {
	for k, s := range m.joined {
		if d := m.filled[k].firstDifference(s, flat, vertices); d != nil {
			d.Where = fmt.Sprintf("set %d: %s", k+1, d.Where)
			return nil, d
		}
	}
	return m.joined, nil
}

// Numbers returns the Betti numbers of each set from its Euler characteristic, or a difference
// between the two ways to join.
func (m *Merging) Numbers(chi []int64, flat, vertices bool) ([]Numbers, *verify.Diff) {
	slabs, d := m.Slabs(flat, vertices)
	if d != nil {
		return nil, d
	}
	numbers := make([]Numbers, len(slabs))
	for k, s := range slabs {
		numbers[k] = NumbersOf(s, flat, vertices, chi[k])
	}
	return numbers, nil
}
