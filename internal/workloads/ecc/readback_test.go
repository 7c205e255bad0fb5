package ecc

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// onLevels is an image of one voxel on so many levels.
func onLevels(t *testing.T, levels int64) grid.Source {
	t.Helper()
	ladder, err := grid.Affine(-2, 0.5, levels)
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.Trusted(grid.Shape{D: 1, H: 1, W: 1}, grid.Float32, make([]byte, 4), ladder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Curves of any number of steps read back, of as many levels as are looked at; what is no curve
// does not.
func TestCurvesReadBack(t *testing.T) {
	for _, c := range []struct {
		levels int64
		out    VCEC
		want   bool
	}{
		{9, nil, true}, {9, VCEC{{0, 1}}, true}, {9, VCEC{{8, -3}}, true}, {9, VCEC{{0, 1}, {3, -7}, {4, 12}, {8, 5}}, true},
		{mostRead, drawn(mostRead, 2), true}, {mostWritten, drawn(mostWritten, 2), true},
		{9, VCEC{{2, math.MaxInt64}}, true}, {9, VCEC{{2, math.MinInt64}}, true},
		{9, VCEC{{3, 1}, {2, 1}}, false}, {9, VCEC{{3, 1}, {3, 1}}, false}, {9, VCEC{{3, 0}}, false}, {mostRead + 1, VCEC{{3, 1}, {2, 1}}, false},
	} {
		c.out = slices.DeleteFunc(c.out, func(s Step) bool { return s.Change == 0 && c.want })
		if d, err := readBack.Check(onLevels(t, c.levels), c.out, nil); err != nil || (d == nil) != c.want {
			t.Errorf("%d steps of %d levels: %v, %v", len(c.out), c.levels, d, err)
		}
	}
	if _, err := readBack.Check(onLevels(t, mostWritten+1), nil, nil); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("of more levels: %v", err)
	}
}

// What is written of a curve does not read back as that when any of it is another byte, but for
// the words of its comment.
func TestEveryByteIsRead(t *testing.T) {
	in, out := onLevels(t, 40), VCEC{{0, 1}, {3, -7}, {4, 12}, {39, 5}}
	for _, f := range Formats() {
		r := newReader(in, out, Convention{}, f)
		var b bytes.Buffer
		if err := r.Write(&b, f, r.p, true); err != nil {
			t.Fatal(err)
		}
		want, err := r.parse(b.Bytes())
		if err != nil || int64(len(want)) != r.Len() {
			t.Fatalf("%s: %d lines, %v", f, len(want), err)
		}
		for i, c := range b.Bytes() {
			if c == ' ' && f == JSON {
				continue
			}
			wrong := bytes.Clone(b.Bytes())
			if wrong[i] = '?'; f == NPY {
				wrong[i] = c ^ 1
			}
			if got, err := r.parse(wrong); err == nil && slices.Equal(got, want) {
				t.Errorf("%s reads as the same with another byte %d of %q", f, i, b.String())
			}
		}
		for n := range b.Len() - 2 { // the last bytes may be those of white space
			if got, err := r.parse(b.Bytes()[:n]); err == nil && slices.Equal(got, want) {
				t.Errorf("%s reads as the same without bytes after %d of %d", f, n, b.Len())
			}
		}
	}
}
