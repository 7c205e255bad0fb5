// Package pairstest is the conformance suite of implementations of persistence pairs.
package pairstest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// Conventions are all conventions of images without periodic axes.
func Conventions() (list []ecc.Convention) {
	for i := range 8 {
		list = append(list, ecc.Convention{Vertices: i&1 > 0, Superlevel: i&2 > 0, Masked: i&4 > 0})
	}
	return list
}

// Drawn returns a small image of random values of few or many levels. In a masked one a fifth of the voxels are absent.
func Drawn(t testing.TB, rng *rand.Rand, masked bool) *grid.Field {
	side := func(most int64) int64 { return 1 + rng.Int64N(most) }
	s := grid.Shape{D: 1, H: side(9), W: side(9)}
	if rng.IntN(4) > 0 {
		s = grid.Shape{D: 1 + side(4), H: side(5), W: side(6)}
	}
	typ, levels := grid.Types()[rng.IntN(4)], []int64{1, 2, 4, 200}[rng.IntN(4)]
	first := 0.0
	if typ == grid.Int16 {
		first = -32768
	}
	ladder, err := grid.Affine(first, 1, levels)
	if typ == grid.Float32 && rng.IntN(3) == 0 {
		ladder = grid.Identity(grid.Float32)
	}
	if err != nil {
		t.Fatal(err)
	}
	beyond := float64(grid.Absent)
	if typ != grid.Float32 {
		beyond = first + float64(levels)
	}
	data := grid.NewBuffer(s.Voxels() * typ.Size())
	size := typ.Size()
	for i := range s.Voxels() {
		v := first + float64(rng.Int64N(levels))
		if masked && rng.IntN(5) == 0 {
			v = beyond
		}
		gridtest.Fill(typ, data[i*size:(i+1)*size], float32(v))
	}
	f, err := grid.Trusted(s, typ, data, ladder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Conform checks an implementation on random images in every convention, in memory and streamed, with one thread and
// with several: the witness confirms each answer, a second call gives the same pairs, and the input is unchanged.
// Images that cannot be read, and periodic ones, are errors.
func Conform(t *testing.T, i pairs.Implementation, images int) {
	rng := rand.New(rand.NewPCG(12, 5))
	for n := range images {
		c := Conventions()[n%8]
		f := Drawn(t, rng, c.Masked)
		if err := Answers(i, f, c); err != nil {
			t.Fatalf("image %d, %v %v %v %+v %v: %v", n, f.Shape(), f.Type(), f.Ladder(), c, f.Data(), err)
		}
	}
	unread(t, i)
	in := gridtest.OfBytes(t, grid.Shape{D: 1, H: 3, W: 3}, make([]uint8, 9)...)
	if err := i.In(ecc.Convention{Periodic: grid.Axes{X: true}}).CanDo(in, bench.Conditions{}); err == nil {
		t.Error("a periodic image is accepted")
	}
}

// Answers returns the first fault of the answers of an implementation about an image.
func Answers(i pairs.Implementation, f *grid.Field, c ecc.Convention) error {
	before := bytes.Clone(f.Data())
	var first []pairs.Pair
	for k, in := range []grid.Source{f, struct{ grid.Source }{f}} {
		setting := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 1 + 2*k}}
		if err := i.In(c).CanDo(in, setting); err != nil {
			return err
		}
		j, err := i.In(c).Setup(in, setting)
		if err != nil {
			return err
		}
		for range 2 {
			j.Poison()
			if out, err := j.Out(); err == nil && len(out.Pairs) > 0 && out.Pairs[0].Dim >= 0 {
				return fmt.Errorf("%v after the output was overwritten", out.Pairs[0])
			}
			if err := j.Do(nil); err != nil {
				return errors.Join(err, j.Close())
			}
			out, err := j.Out()
			if err != nil {
				return errors.Join(err, j.Close())
			}
			if d, err := pairs.Check(f, c, out); d != nil || err != nil {
				return errors.Join(fmt.Errorf("%d threads: %v (%w)", setting.Threads, d, err), j.Close())
			}
			if first == nil {
				first = append([]pairs.Pair{}, out.Pairs...)
			} else if !reflect.DeepEqual(first, append([]pairs.Pair{}, out.Pairs...)) {
				return errors.Join(errors.New("a second answer differs"), j.Close())
			}
		}
		if err := j.Close(); err != nil {
			return err
		}
	}
	if !bytes.Equal(before, f.Data()) {
		return errors.New("the image is changed")
	}
	return nil
}

// unread checks that an image with an unreadable slice is an error.
func unread(t *testing.T, i pairs.Implementation) {
	t.Helper()
	f := gridtest.OfBytes(t, grid.Shape{D: 4, H: 3, W: 3}, make([]uint8, 36)...)
	for at := range f.Shape().Slices() {
		out, err := bench.Answer[grid.Source, pairs.Answer](i, gridtest.UnreadSlice{Source: f, At: at}, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
		if !errors.Is(err, gridtest.ErrUnread) {
			t.Errorf("slice %d cannot be read: %v, %v", at, out, err)
		}
	}
}
