// Package fingerprint computes a witness for an Euler characteristic curve of any size, at about
// the speed of reading the image. Every level gets a random weight. The sum over all cells of the
// image of (−1)^dimension times the weight of the cell's level equals the sum over the levels of
// change times weight. A wrong curve has the same sum with probability at most 2⁻³¹, or 2⁻²⁹ on the
// ladder of every float32 (proof in doc/proofs/fingerprint.md). Package ecc uses it as a law.
//
// The default convention is construction T, sublevel sets and no periodic axis; a key can be for
// another Convention.
package fingerprint

import (
	"crypto/aes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
)

// A Sum is one number modulo 2⁶⁴ for each weight function of a key.
type Sum []uint64

// Equal reports whether two sums are equal.
func (s Sum) Equal(other Sum) bool { return slices.Equal(s, other) }

// Add adds times · other, where times may be negative. The nil Sum is 0.
func (s *Sum) Add(other Sum, times int64) {
	if *s == nil {
		*s = make(Sum, len(other))
	}
	for i, v := range other {
		(*s)[i] += uint64(times) * v
	}
}

// String formats the sum as 16 hexadecimal digits per function.
func (s Sum) String() string {
	var b strings.Builder
	for i, v := range s {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%016x", v)
	}
	return b.String()
}

// ParseSum parses a sum from String.
func ParseSum(s string) (Sum, error) {
	var sum Sum
	for _, digits := range strings.Split(s, " ") {
		v, err := strconv.ParseUint(digits, 16, 64)
		if err != nil || len(digits) != 16 {
			return nil, fmt.Errorf("fingerprint %q: want 16 hexadecimal digits for each function", s)
		}
		sum = append(sum, v)
	}
	return sum, nil
}

// Compute returns the fingerprint of an image, computed on the given number of threads. Voxels above the
// ladder's last level are outside the image. It needs 8 bytes per level and function, and less than
// a megabyte per core. If the image is not in memory, each core also needs a slab.
func Compute(s grid.Source, k Key, threads int) (Sum, error) {
	return computeBelow(s, k, s.Ladder().Len(), threads, fastest())
}

// DifferingISA returns the first instruction set that gives another fingerprint than this machine's
// fastest one, and both fingerprints. It returns "" if all agree.
func DifferingISA(s grid.Source, k Key, threads int) (isa string, fastest, other Sum, err error) {
	return firstDifferingISA(available(), func(isa string) (Sum, error) {
		return computeBelow(s, k, s.Ladder().Len(), threads, isa)
	})
}

// firstDifferingISA compares the sums of several instruction sets, the fastest first.
func firstDifferingISA(isas []string, of func(isa string) (Sum, error)) (isa string, fastest, other Sum, err error) {
	for i, isa := range isas {
		sum, err := of(isa)
		if err != nil {
			return "", nil, nil, err
		}
		if i == 0 {
			fastest = sum
		} else if !sum.Equal(fastest) {
			return isa, fastest, sum, nil
		}
	}
	return "", nil, nil, nil
}

// ComputeBelow returns the fingerprint of the image without its voxels on level top and above: the
// weighted sum of the changes below top.
func ComputeBelow(s grid.Source, k Key, top int64, threads int) (Sum, error) {
	return computeBelow(s, k, top, threads, fastest())
}

func computeBelow(s grid.Source, k Key, top int64, threads int, isa string) (Sum, error) {
	return prepare(s.Type(), s.Ladder(), k, top, isa).On(threads).Compute(s, threads)
}

// Prepared is a key with the weights for a ladder and a type. Use it for the fingerprints of
// several similar images.
type Prepared struct {
	typ     grid.Type
	ladder  grid.Ladder
	in      Convention
	isa     string
	weights []weights // one per weight function
	top     int64
	// Created on first use, because devices need only tables.
	counting  func() *counting // nil if there is no vector code for counting
	functions func() []function
}

// A function is one weight function of a key.
type function struct {
	weight  *lookup
	outside uint64
	bits    uint // number of random bits
	factors []uint64
}

// Zero returns the sum of no cells.
func (p *Prepared) Zero() Sum { return make(Sum, len(p.weights)) }

// Prepare makes the tables of weights, which have 8 bytes per level and function, on all cores.
func Prepare(t grid.Type, l grid.Ladder, k Key) *Prepared {
	return prepare(t, l, k, l.Len(), fastest())
}

func prepare(t grid.Type, l grid.Ladder, k Key, top int64, isa string) *Prepared {
	p := &Prepared{typ: t, ladder: l, in: k.in, isa: isa, top: top, weights: make([]weights, k.functions)}
	for i := range p.weights {
		p.weights[i] = k.weights(l.Len(), i)
	}
	p.counting = sync.OnceValue(func() *counting { return newCounting(t, l, p.weights, top, isa) })
	p.functions = sync.OnceValue(func() (all []function) {
		for _, w := range p.weights {
			all = append(all, p.function(w))
		}
		return all
	})
	return p
}

// On makes the tables on a number of threads, if they have not been used yet.
func (p *Prepared) On(threads int) *Prepared {
	for i := range p.weights {
		p.weights[i].threads = threads
	}
	return p
}

// function makes the look-up for one weight function.
func (p *Prepared) function(w weights) function {
	return function{outside: w.outside(), bits: w.bits, factors: w.factors,
		weight: newLookup(p.typ, p.ladder, w, p.top, p.isa)}
}

// Compute returns the fingerprint of an image of the type on the ladder. If the image repeats, it
// reads little more than a period: the cells are in slices and between two slices.
func (p *Prepared) Compute(s grid.Source, threads int) (Sum, error) {
	if p.in.Periodic.Slices(s.Shape()) { // a ring is no sum of slabs
		s = grid.Unrepeated(s)
	}
	return views.OverPeriods(s, func(s grid.Source) (Sum, error) { return p.whole(s, threads, false) },
		func(sum *Sum, said Sum, times int64) {
			if p.in.Vertices && s.Shape().Dim() == 3 { // the signs are for top cells
				times = -times
			}
			sum.Add(said, times)
		})
}

// OfPiece returns the fingerprint of a piece of a 3D image in construction T. It leaves out the
// slice that the piece shares with the previous one.
func (p *Prepared) OfPiece(piece grid.Piece, threads int) (Sum, error) {
	return p.whole(piece.Field, threads, piece.Shared != nil)
}

// whole reads all of an image.
func (p *Prepared) whole(s grid.Source, threads int, joined bool) (Sum, error) {
	var sum Sum
	add := func(f function, c *counting) error {
		m, err := newMarch(s, f, c, p.in.Periodic, threads, p.isa)
		if err != nil {
			return fmt.Errorf("fingerprint: %w", err)
		}
		m.joined = joined
		some, err := m.run()
		if err != nil {
			return fmt.Errorf("fingerprint: %w", err)
		}
		sum = append(sum, some...)
		return nil
	}
	if counting := p.counting(); counting != nil && counting.accepts(s.Shape(), grid.WatcherOf(s) != nil) {
		if err := add(function{}, counting); err != nil {
			return nil, err
		}
	}
	for len(sum) < len(p.weights) {
		if err := add(p.functions()[len(sum)], nil); err != nil {
			return nil, err
		}
	}
	for i := range sum {
		sum[i] <<= doubled(p.ladder)
	}
	return sum, nil
}

// doubled is 1 on the ladder of every float32, else 0. Sums are then of twice the weights, so that
// a kernel has the level in a word of its own.
func doubled(l grid.Ladder) uint {
	if l.Indexed() {
		return 0
	}
	return 1
}

// OfCurve returns the weighted sum of the changes of a curve, level by level. It is an error if a
// level is not below levels.
func OfCurve(changes iter.Seq2[int64, int64], levels int64, k Key) (Sum, error) {
	sum := make(Sum, k.functions)
	all := make([]weights, k.functions)
	for i := range all {
		all[i] = k.weights(levels, i)
	}
	if every := grid.Identity(grid.Float32); levels == every.Len() {
		return ofEvery(changes, every, all)
	}
	var block [aes.BlockSize]byte
	for level, change := range changes {
		if level < 0 || level >= levels {
			return nil, levelError(level, levels)
		}
		for i, w := range all {
			sum[i] += uint64(change) * (w.weightUsing(&block, level) - w.outside())
		}
	}
	return sum, nil
}

// CurvesOn returns OfCurve for curves on the same levels, not on every float32. It computes the weights once.
func CurvesOn(levels int64, k Key) func(changes iter.Seq2[int64, int64]) (Sum, error) {
	tables := make([][]uint64, k.functions)
	for i := range tables {
		w := k.weights(levels, i)
		tables[i] = w.table(levels, w.outside())
	}
	return func(changes iter.Seq2[int64, int64]) (Sum, error) {
		sum := make(Sum, k.functions)
		for level, change := range changes {
			if level < 0 || level >= levels {
				return nil, levelError(level, levels)
			}
			for i, t := range tables {
				sum[i] += uint64(change) * t[level]
			}
		}
		return sum, nil
	}
}

func levelError(level, levels int64) error {
	return fmt.Errorf("fingerprint: a change at level %d; want 0 to %d", level, levels-1)
}

// ofEvery is OfCurve on the ladder of every float32. A curve may have many levels there, so their
// weights are computed in blocks.
func ofEvery(changes iter.Seq2[int64, int64], every grid.Ladder, all []weights) (Sum, error) {
	const some = 512
	sum := make(Sum, len(all))
	values, times, found := make([]float32, 0, some), make([]uint64, 0, some), make([]uint64, some)
	lookups := make([]*lookup, len(all))
	for i, w := range all {
		lookups[i] = newLookup(grid.Float32, every, w, every.Len(), fastest())
	}
	add := func() {
		for i, u := range lookups {
			u.row(found[:len(values)], grid.Bytes(values), nil, 0)
			outside := all[i].outside()
			for j, change := range times {
				sum[i] += change * (found[j] - outside)
			}
		}
		values, times = values[:0], times[:0]
	}
	for level, change := range changes {
		if level < 0 || level >= every.Len() {
			return nil, levelError(level, every.Len())
		}
		values, times = append(values, every.Value(level)), append(times, uint64(change))
		if len(values) == some {
			add()
		}
	}
	add()
	for i := range sum {
		sum[i] <<= doubled(every)
	}
	return sum, nil
}
