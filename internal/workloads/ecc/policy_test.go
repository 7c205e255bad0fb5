package ecc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// What an implementation refuses to say of a derived image contradicts nothing: no law
// takes no answer for one.
func TestRefusedDerivedImages(t *testing.T) {
	refusal := errors.New("it is too large")
	for _, name := range []string{"noise/shape=5x4x6/levels=9/type=uint8/seed=1", "noise/shape=7x6/levels=9/type=float32/seed=1"} {
		f := image(t, name)
		right := ecc.Enumerate(f)
		asked := 0
		refuse := func(grid.Source) (ecc.VCEC, error) { asked++; return nil, refusal }
		for _, law := range ecc.Laws() {
			before := asked
			d, err := law.Check(f, right, refuse)
			if d != nil {
				t.Errorf("%s: %s: %v", name, law.Name, d)
			}
			if asked > before && !errors.Is(err, refusal) {
				t.Errorf("%s: %s asked, was refused, and says %v", name, law.Name, err)
			}
			if law.Calls > 0 && asked == before && !errors.Is(err, verify.ErrNotApplicable) {
				t.Errorf("%s: %s asked nothing: %v", name, law.Name, err)
			}
		}
		evidence := ecc.Policy().Check(verify.Question[grid.Source, ecc.VCEC]{Name: name, In: f, Out: right, Thorough: true, Budget: time.Hour, Ask: refuse})
		notes := 0
		for _, e := range evidence {
			if e.Note == "not tried: it is too large" && !e.Passed {
				notes++
			}
		}
		if v := verify.Judge([]string{name}, evidence); v.Status != verify.Verified || notes < 3 {
			t.Errorf("%s: %s (%s), %d laws were refused", name, v.Status, v.Reason, notes)
		}
	}
}

// A curve of one step is one that a program could answer that ignores its input; one of
// two is not.
func TestWeak(t *testing.T) {
	weak := ecc.Policy().Weak
	for steps, want := range map[int]bool{0: true, 1: true, 2: false, 3: false} {
		out := slices.Repeat(ecc.VCEC{{Level: 1, Change: 1}}, steps)
		if got := weak(nil, out) != ""; got != want {
			t.Errorf("%d steps: weak %v, want %v", steps, got, want)
		}
	}
}

// Beside a disagreement are the first voxel on its level and those around it, at every
// border.
func TestNeighbourhood(t *testing.T) {
	for _, c := range []struct {
		shape grid.Shape
		level int64
		want  string
	}{
		{grid.Shape{D: 3, H: 3, W: 3}, 13, "levels around the first voxel on it, z 1 y 1 x 1:\n  0 1 2 / 3 4 5 / 6 7 8\n  9 10 11 / 12 13 14 / 15 16 17\n  18 19 20 / 21 22 23 / 24 25 26"},
		{grid.Shape{D: 3, H: 3, W: 3}, 0, "levels around the first voxel on it, z 0 y 0 x 0:\n  . . . / . 0 1 / . 3 4\n  . . . / . 9 10 / . 12 13"},
		{grid.Shape{D: 3, H: 3, W: 3}, 26, "levels around the first voxel on it, z 2 y 2 x 2:\n  13 14 . / 16 17 . / . . .\n  22 23 . / 25 26 . / . . ."},
		{grid.Shape{D: 2, H: 3, W: 4}, 17, "levels around the first voxel on it, z 1 y 1 x 1:\n  0 1 2 / 4 5 6 / 8 9 10\n  12 13 14 / 16 17 18 / 20 21 22"},
		{grid.Shape{D: 1, H: 3, W: 4}, 7, "levels around the first voxel on it, z 0 y 1 x 3:\n  . . . / 2 3 . / . . .\n  . . . / 6 7 . / . . .\n  . . . / 10 11 . / . . ."},
		{grid.Shape{D: 1, H: 2, W: 2}, 200, "no voxel stands on this level"},
	} {
		data := make([]byte, c.shape.Voxels())
		for i := range data {
			data[i] = byte(i)
		}
		f, err := grid.NewField(c.shape, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		d := ecc.Policy().Agree(f, ecc.VCEC{{Level: c.level, Change: 1}}, nil)
		if d == nil || d.Context != c.want {
			t.Errorf("%v, level %d: %q, want %q", c.shape, c.level, strings.TrimSpace(d.Context), c.want)
		}
	}
}

// Of an image of several slabs, each of several stretches, the first voxel on a level is found
// wherever it is, and that there is none.
func TestNeighbourhoodOfALargeImage(t *testing.T) {
	shape := grid.Shape{D: 200, H: 300, W: 300}
	data := make([]byte, shape.Voxels())
	data[len(data)-1] = 1
	f, err := grid.NewField(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	d := ecc.Policy().Agree(struct{ grid.Source }{f}, ecc.VCEC{{Level: 1, Change: 1}}, nil)
	if want := "levels around the first voxel on it, z 199 y 299 x 299:\n  0 0 . / 0 0 . / . . .\n  0 0 . / 0 1 . / . . ."; d == nil || d.Context != want {
		t.Errorf("%v, want %q", d, want)
	}
	wide, err := grid.NewField(grid.Shape{D: 1, H: 300, W: 300}, grid.Uint16, grid.NewBuffer(2*300*300), grid.Identity(grid.Uint16))
	if err != nil {
		t.Fatal(err)
	}
	if d := ecc.Policy().Agree(wide, ecc.VCEC{{Level: 1, Change: 1}}, nil); d == nil || d.Context != "no voxel stands on this level" {
		t.Errorf("%v", d)
	}
}
