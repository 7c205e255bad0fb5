package datasets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"eccbench/internal/grid"
)

// Voxels makes an image of voxels in memory, row-major in the host's byte order, of a type
// as NumPy calls it. They are read where they are, and never written to: those of uint8,
// int16, uint16 and float32 must not change while the image is used, all others become
// float32, or ranks, as those of a file do. Float32 has the identity ladder, or for levels > 0
// evenly spaced ones from its least value to its greatest; others have no number of levels.
// NaN and infinities are refused, with a *grid.NotFiniteError, and levels with a LevelsError.
//
// It takes so many cores, and gives up with the context's error when that has ended.
func Voxels(ctx context.Context, cores int, shape grid.Shape, typ string, data []byte, levels int64) (*grid.Field, error) {
	h, stored := hands{ctx, cores}, storedType(0)
	for s, name := range storedNames {
		if name == typ {
			stored = s
		}
	}
	switch {
	case stored == 0 || stored == storedInt8:
		return nil, fmt.Errorf("element type %q: want uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32 or float64", typ)
	case levels > 0 && stored != storedFloat32:
		return nil, fmt.Errorf("a number of levels is for float32 images and this one is %s; leave it out", typ)
	}
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if want := shape.Voxels() * stored.size(); int64(len(data)) != want {
		return nil, fmt.Errorf("%v %s: %d bytes, want %d", shape, typ, len(data), want)
	}
	native := stored.native()
	if stored.narrowed() {
		data, labels, err := narrow(h, data, stored, false, 0, 0)
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
				return nil, LevelsError{fmt.Errorf("%d levels from %v to %v: %w; ask for fewer levels, or for all", levels, lo, hi, err)}
			}
		}
	}
	return grid.Trusted(shape, native, data, ladder)
}

// A LevelsError is that an image's values are too near each other, or too far, for as many
// evenly spaced levels of float32 as were asked for.
type LevelsError struct{ error }

// spread is the least and the greatest of finite values.
func spread(h hands, values []float32, shape grid.Shape) (lo, hi float32, err error) {
	lo, hi = math.MaxFloat32, -math.MaxFloat32
	finite := true
	var mu sync.Mutex
	v := vectorsOf(fastest())
	h.inParts(len(values), func(from, to int) {
		least, most, all := v.extremes(values[from:to])
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

// IsName reports whether a text is an input string and not the path of a file.
func IsName(s string) bool {
	first, _, ok := strings.Cut(s, "/")
	return ok && slices.ContainsFunc(generators(), func(g generator) bool { return g.Name == first })
}
