package element

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// Voxels makes an image of voxels in memory, row-major in the host's byte order; typ is the name in
// NumPy. It reads the voxels in place and never writes to them. Voxels of uint8, int16, uint16 and
// float32 must not change while the image is used. All others are converted to float32 or ranks, as
// in a file. Float32 has the identity ladder. With levels > 0, it has evenly spaced levels from its
// least value to its greatest; other types do not accept levels. NaN and infinities are a
// *grid.NotFiniteError; impossible levels are a LevelsError.
//
// It uses the given number of cores, and returns the context's error once the context has ended.
func Voxels(ctx context.Context, cores int, shape grid.Shape, typ string, data []byte,
	levels int64) (*grid.Field, error) {
	h, stored := Cores{ctx, cores}, ParseType(typ)
	switch {
	case stored == 0 || stored == Int8:
		return nil, fmt.Errorf("element type %q: want uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32 "+
			"or float64", typ)
	case levels > 0 && stored != Float32:
		return nil, fmt.Errorf("a number of levels is for float32 images and this one is %s; leave it out", typ)
	}
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if want := shape.Voxels() * stored.Size(); int64(len(data)) != want {
		return nil, fmt.Errorf("%v %s: %d bytes, want %d", shape, typ, len(data), want)
	}
	native := stored.Native()
	if stored.Narrowed() {
		data, labels, err := Narrow(h, data, stored, false, 0, 0, Ranks{})
		if err != nil {
			return nil, err
		}
		f, err := grid.NewField(shape, native, data, grid.Identity(native))
		if err != nil || labels == nil {
			return f, err
		}
		return f.Labelled(labels), nil
	}
	ladder := grid.Identity(native)
	if native == grid.Float32 {
		lo, hi, err := spread(h, grid.Values[float32](data), shape)
		if err != nil {
			return nil, err
		}
		if levels > 0 {
			if ladder, err = RangeLadder(lo, hi, levels); err != nil {
				return nil, LevelsError{fmt.Errorf("%d levels from %v to %v: %w; ask for fewer levels, or for all",
					levels, lo, hi, err)}
			}
		}
	}
	return grid.Trusted(shape, native, data, ladder)
}

// A Guess is an image of float32 in memory, on a ladder that is estimated from a sample. It checks
// all values as they are read; Confirmed reports the result.
type Guess struct {
	*grid.Field
	lo, hi         float32 // of all values
	onLevels       bool    // all values are on levels
	extremes       func(values []float32) (lo, hi float32, finite bool)
	watched, wrong atomic.Bool
}

// errGuess ends the reading of a wrong Guess.
var errGuess = errors.New("the image has values beyond those of a sample")

const (
	// fewGuessed is the number of values up to which finding the range is as fast as sampling.
	fewGuessed = 1 << 20
	// A sample has sampleStretches stretches of sampleValues values. Its least and greatest value
	// must appear sampleOften times. Then they are the range of the image, unless it has rarer
	// values.
	sampleStretches, sampleValues, sampleOften = 128, 256, 4
	// The levels are guessed from sampleLevels values of each stretch. There are at most
	// mostGuessed levels, and at most one for each levelVoxels voxels, because each needs a weight
	// of a fingerprint.
	sampleLevels, mostGuessed, levelVoxels = 8, 1<<16 - 2, 64
)

// Guessed is Voxels for float32 with the range of a sample, or, without a number of levels, on the
// evenly spaced levels of its values. It does not check that all values are finite. There may be
// more levels than the image uses, which makes no difference if all values are on levels. It
// returns nil if the sample is unreliable, or too small to be worthwhile.
func Guessed(shape grid.Shape, typ string, data []byte, levels int64) *Guess {
	n, size := int64(len(data)), grid.Float32.Size()
	few := int64(fewGuessed)
	if levels == 0 {
		few = sampleStretches * sampleValues
	}
	if typ != Float32.String() || n < size*few || shape.Check() != nil || n != size*shape.Voxels() {
		return nil
	}
	values := grid.Values[float32](data)
	v := vectors.ForISA(vectors.Fastest())
	g := &Guess{extremes: v.Extremes}
	often, finite := g.sample(values)
	if !finite || levels > 0 && !often {
		return nil
	}
	var ladder grid.Ladder
	var err error
	switch {
	case levels > 0:
		if ladder, err = RangeLadder(g.lo, g.hi, levels); err != nil || ladder.Value(ladder.Len()-1) != g.hi {
			return nil // a value on the last level would be outside the range
		}
	default:
		if ladder, g.onLevels = g.ladder(values, often); !g.onLevels {
			ladder = grid.Identity(grid.Float32)
		}
		g.lo, g.hi = -math.MaxFloat32, math.MaxFloat32
		if !g.onLevels && n < size*fewGuessed {
			return nil
		}
	}
	f, err := grid.Trusted(shape, grid.Float32, data, ladder)
	if err != nil {
		return nil
	}
	g.Field = f.Watched(g)
	return g
}

// ladder returns evenly spaced levels for the values of a sample, from its least value to its
// greatest. If these are not frequent, it adds half the number of levels at either end.
func (g *Guess) ladder(values []float32, often bool) (l grid.Ladder, ok bool) {
	some := make([]float32, 0, sampleStretches*sampleLevels)
	for i := range uint64(sampleStretches) {
		some = append(some, stretch(values, i)[:sampleLevels]...)
	}
	slices.Sort(some)
	some = slices.Compact(some)
	gap := math.Inf(1)
	for i := range len(some) - 1 {
		gap = min(gap, float64(some[i+1])-float64(some[i]))
	}
	lo, hi := float64(g.lo), float64(g.hi)
	steps := math.Round((hi - lo) / gap)
	most := float64(min(mostGuessed, len(values)/levelVoxels))
	if !(steps >= 1 && 2*steps+1 <= most) {
		return l, false
	}
	step, more := (hi-lo)/steps, 0.0
	if !often {
		more = math.Ceil(steps / 2)
	}
	l, err := grid.Affine(lo-more*step, step, int64(steps+2*more)+1)
	if err != nil {
		return l, false
	}
	if !onLevels(l, append(some, g.lo, g.hi)) {
		return l, false
	}
	return l, true
}

// stretch returns a stretch of a sample, independent of the image's rows.
func stretch(values []float32, i uint64) []float32 {
	const golden = 0x9e3779b97f4a7c15 // its multiples are spread evenly
	at, _ := bits.Mul64(i*golden, uint64(len(values)-sampleValues+1))
	return values[at:][:sampleValues]
}

// sample sets the range to the range of a sample. It reports whether both ends are frequent, and
// whether all values are finite.
func (g *Guess) sample(values []float32) (often, finite bool) {
	g.lo, g.hi = math.MaxFloat32, -math.MaxFloat32
	for i := range uint64(sampleStretches) {
		lo, hi, finite := g.extremes(stretch(values, i))
		if !finite {
			return false, false
		}
		g.lo, g.hi = min(g.lo, lo), max(g.hi, hi)
	}
	var least, most int
	for i := uint64(0); i < sampleStretches && (least < sampleOften || most < sampleOften); i++ {
		for _, v := range stretch(values, i) {
			least, most = least+asInt(v == g.lo), most+asInt(v == g.hi)
		}
	}
	g.lo, g.hi = g.lo+0, g.hi+0 // no −0
	return least >= sampleOften && most >= sampleOften, true
}

// Watch marks that values are checked during the reading.
func (g *Guess) Watch() { g.watched.Store(true) }

// Look checks that values are in the range, or on the levels.
func (g *Guess) Look(data []byte) {
	values := grid.Values[float32](data)
	if lo, hi, finite := g.extremes(values); lo < g.lo || hi > g.hi || !finite ||
		g.onLevels && !onLevels(g.Ladder(), values) {
		g.wrong.Store(true)
	}
}

// onLevels reports whether all values are on levels.
func onLevels(l grid.Ladder, values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool {
		k := l.Level(v)
		return k == l.Len() || l.Value(k) != v
	})
}

// Err returns an error after a value outside the range.
func (g *Guess) Err() error {
	if g.wrong.Load() {
		return errGuess
	}
	return nil
}

// Confirmed reports, after all values were read, whether none was outside the range or the levels.
func (g *Guess) Confirmed() bool { return g.watched.Load() && !g.wrong.Load() }

// A LevelsError means that an image is not float32, or that its range is too small or too large for
// the requested number of evenly spaced levels.
type LevelsError struct{ Err error }

func (e LevelsError) Error() string { return e.Err.Error() }

// spread returns the least and the greatest of finite values.
func spread(h Cores, values []float32, shape grid.Shape) (lo, hi float32, err error) {
	const few = 1 << 19 // processed before another core starts
	if len(values) < few {
		h.cores = 1
	}
	lo, hi = math.MaxFloat32, -math.MaxFloat32
	finite := true
	var mu sync.Mutex
	v := vectors.ForISA(vectors.Fastest())
	h.inParts(len(values), func(from, to int) {
		least, most, all := v.Extremes(values[from:to])
		mu.Lock()
		defer mu.Unlock()
		lo, hi, finite = min(lo, least), max(hi, most), finite && all
	})
	if err := h.ctx.Err(); err != nil {
		return 0, 0, err
	}
	if !finite {
		return 0, 0, grid.Finite(values, 0, shape)
	}
	return lo + 0, hi + 0, nil // no −0
}
