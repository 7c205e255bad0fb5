// Package fingerprint is a witness of an Euler characteristic curve of any size, at
// about the speed of reading the image. It gives every level a random weight. The sum
// over all cells of the image of (−1)^dimension times the weight of the cell's value
// equals the sum over the levels of the change times the weight, and a wrong curve has
// the same sum with a probability of 2⁻³¹ or less, 2⁻²⁹ on the ladder of every float32
// (doc/proofs/fingerprint.md has the proof).
//
// The construction is T, the filtration by sublevel sets and no axis periodic, unless the key
// is for another Convention.
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
)

// A Sum is one number modulo 2⁶⁴ for each weight function of a key.
type Sum []uint64

// Equal reports whether two sums are the same.
func (s Sum) Equal(other Sum) bool { return slices.Equal(s, other) }

// Add adds another sum a number of times, which may be negative. The nil Sum is 0.
func (s *Sum) Add(other Sum, times int64) {
	if *s == nil {
		*s = make(Sum, len(other))
	}
	for i, v := range other {
		(*s)[i] += uint64(times) * v
	}
}

// String is the sum in hexadecimal digits, 16 for each function.
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

// ParseSum is the inverse of String.
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

// Of is the sum over all cells of an image, on so many cores at a time. A voxel above
// the ladder's last level counts as outside the image. The memory that it takes is
// 8 bytes a level, and for each core less than a megabyte and, where the image is not
// in memory, a slab of its slices.
func Of(s grid.Source, k Key, threads int) (Sum, error) {
	return Prepare(s.Type(), s.Ladder(), k).Of(s, threads)
}

// DifferingISA returns the first instruction set by which an image has another fingerprint than by the fastest
// of this machine, and both; "" where there is none.
func DifferingISA(s grid.Source, k Key, threads int) (isa string, fastest, other Sum, err error) {
	return firstDifferingISA(available(), func(isa string) (Sum, error) {
		return below(s, k, s.Ladder().Len(), threads, isa)
	})
}

// firstDifferingISA compares the sums by each of some instruction sets, the fastest first.
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

// Below is Of the image without its voxels on level top and above: the sum of the
// changes at the levels below top.
func Below(s grid.Source, k Key, top int64, threads int) (Sum, error) {
	return below(s, k, top, threads, fastest())
}

func below(s grid.Source, k Key, top int64, threads int, isa string) (Sum, error) {
	return prepare(s.Type(), s.Ladder(), k, top, isa).Of(s, threads)
}

// Prepared is a key with the weights of the levels of a ladder, looked up by values of a
// type, for the fingerprints of several similar images.
type Prepared struct {
	typ     grid.Type
	ladder  grid.Ladder
	in      Convention
	isa     string
	weights []weights // of each function
	top     int64
	// Each is made on request: devices use tables only.
	counting  func() *counting // nil where there are no vector instructions that count
	functions func() []function
}

// A function is one of a key's.
type function struct {
	weight  *lookup
	outside uint64
	bits    uint // that are random
	factors []uint64
}

// Zero is the sum of no cells.
func (p *Prepared) Zero() Sum { return make(Sum, len(p.weights)) }

// Prepare makes the tables of weights. They take 8 bytes a level and function.
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

// function has the weights of values.
func (p *Prepared) function(w weights) function {
	return function{outside: w.outside(), bits: w.bits, factors: w.factors, weight: newLookup(p.typ, p.ladder, w, p.top, p.isa)}
}

// Of is the sum over all cells of an image of the type, on the ladder.
func (p *Prepared) Of(s grid.Source, threads int) (Sum, error) {
	return p.By(s, func(s grid.Source) (Sum, error) { return p.whole(s, threads, false) })
}

// OfPiece is the sum over the cells of a piece of a 3D image of voxels that are top cells, without those
// of a slice that it shares with the piece before.
func (p *Prepared) OfPiece(piece grid.Piece, threads int) (Sum, error) {
	return p.whole(piece.Field, threads, piece.Shared != nil)
}

// By is Of by who looks at all of an image. An image that repeats itself is looked at in
// little more than a period of it: its cells are those of its slices and those between two of
// them.
func (p *Prepared) By(s grid.Source, whole func(grid.Source) (Sum, error)) (Sum, error) {
	if p.in.Periodic.Slices(s.Shape()) { // which is no sum of slabs
		s = grid.Unrepeated(s)
	}
	return grid.OverPeriods(s, whole,
		func(sum *Sum, said Sum, times int64) {
			if p.in.Vertices && s.Shape().Dim() == 3 { // the signs are of top cells
				times = -times
			}
			sum.Add(said, times)
		})
}

// whole looks at all of an image.
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
	if counting := p.counting(); counting != nil && counting.takes(s.Shape(), grid.WatcherOf(s) != nil) {
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

// doubled is 1 on the ladder of every float32, where sums are of twice the weights, so that a kernel
// has a level in a word of its own; else 0.
func doubled(l grid.Ladder) uint {
	if l.Indexed() {
		return 0
	}
	return 1
}

// OfCurve is the sum over the changes of a curve, given level by level, on a ladder of
// so many levels. It is an error when a level is not one of those.
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

func levelError(level, levels int64) error {
	return fmt.Errorf("fingerprint: a change at level %d of %d", level, levels)
}

// ofEvery is OfCurve on the ladder of every float32, of which a curve has many levels: their
// weights are looked up some at a time, by their values.
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
			for j, change := range times {
				sum[i] += change * (found[j] - all[i].outside())
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
