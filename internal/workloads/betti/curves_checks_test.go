package betti

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/unions"
	"eccbench/internal/workloads/ecc"
)

// curvesChecks test the unions of all voxels, the encoding and conversion of curves, and their
// laws.
func curvesChecks() []checktest.Check {
	return []checktest.Check{
		{Name: "unions at every level", Of: unionsAreFilled},
		{Name: "curves that differ", Of: curvesAgree},
		{Name: "curves in bytes", Of: curvesAreWritten},
		{Name: "curves in conventions", Of: curvesAreTurned},
		{Name: "laws of wrong curves", Of: curvesLawsTell},
		{Name: "changes of a number", Of: unlikeIsTold},
		{Name: "lines of curves", Of: linesAre},
	}
}

// everyConvention returns the default convention and all others.
func everyConvention() []ecc.Convention {
	list := []ecc.Convention{{}}
	for _, o := range conventions {
		list = append(list, o.c)
	}
	return list
}

// filledCurves returns the curves of an image in a convention, by filling the sets one after the
// other.
func filledCurves(in grid.Source, c ecc.Convention) (Curves, error) {
	out, before := Curves{}, Numbers{}
	for i := range in.Ladder().Len() {
		level := i
		if c.Superlevel {
			level = in.Ladder().Len() - 1 - i
		}
		n, err := ByFlooding(&Image{in, in.Ladder().Value(level)}, c)
		if err != nil {
			return nil, err
		}
		if n != before {
			out = append(out, Change{level, n.Minus(before)})
		}
		before = n
	}
	if c.Superlevel {
		slices.Reverse(out)
	}
	return out, nil
}

// fewLevels returns images of few levels: noise, a single voxel, and one on a single level. Another
// one starts after the first level and ends before the last.
func fewLevels(t *testing.T) (list []*grid.Field) {
	rng := rand.New(rand.NewPCG(3, 9))
	l, err := grid.Affine(0, 1, 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 5, H: 6, W: 7}, {D: 1, H: 9, W: 11}, {D: 1, H: 1, W: 1}, {D: 3, H: 1, W: 1}, {D: 1, H: 6, W: 1}, {D: 2, H: 3, W: 3}} {
		for _, values := range [][2]int{{0, 6}, {2, 3}, {0, 1}, {3, 1}, {5, 1}} {
			list = append(list, gridtest.Image(t, shape, grid.Uint8, l, func(int64) float64 { return float64(values[0] + rng.IntN(values[1])) }))
		}
	}
	return list
}

// Unions in order agree with the fill of the set at every level, in all conventions. Both are
// independent of each other.
func unionsAreFilled(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		side := func() int64 { return 1 + rng.Int64N(6) }
		in := gridtest.Drawn(t, grid.Shape{D: side(), H: side(), W: side()}, grid.Types()[rng.IntN(4)], 6, 3*uint64(rng.Uint32()))
		for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
			b0, rest, err := new(unions.Memory).Changes(in, c.Superlevel, c.Vertices, c.Masked)
			if err != nil {
				t.Fatal(err)
			}
			for level := range in.Ladder().Len() {
				filled, err := ByFlooding(&Image{in, in.Ladder().Value(level)}, c)
				if err != nil {
					t.Fatal(err)
				}
				want := [2]int64{filled.B0, filled.B2}
				if in.Shape().Dim() == 2 {
					want[1] = filled.B1
				}
				at := func(steps []unions.Step) (sum int64) {
					for _, s := range steps {
						if c.Superlevel && s.Level >= level || !c.Superlevel && s.Level <= level {
							sum += s.Change
						}
					}
					return sum
				}
				if got := [2]int64{at(b0), at(rest)}; got != want {
					t.Fatalf("%v %v %+v level %d: %v, filled %v", in.Shape(), in.Type(), c, level, got, want)
				}
			}
		}
	}
}

// Only the laws can verify an answer that does not follow from the name.
func curvesAgree(t *testing.T) {
	s, err := fields.Inputs{}.Open("noise/shape=9x8/levels=4/type=uint8/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	want := Curves{{1, Numbers{1, 2, 3}}, {3, Numbers{0, -2, 0}}}
	for what, got := range map[string]Curves{
		"level 3 (value 3)": {{1, Numbers{1, 2, 3}}}, "level 2 (value 2)": {{1, Numbers{1, 2, 3}}, {2, Numbers{1, 0, 0}}, {3, Numbers{0, -2, 0}}},
		"level 1 (value 1)": {{1, Numbers{1, 2, 4}}, {3, Numbers{0, -2, 0}}}, "level 0 (value 0)": {{0, Numbers{1, 2, 3}}, {3, Numbers{0, -2, 0}}},
	} {
		if d := sameCurves(s, want, got); d == nil || d.Where != what {
			t.Errorf("%v: %v, want %s", got, d, what)
		}
	}
	nothing := slices.Insert(slices.Clone(want), 1, Change{Level: 2}) // a change of 0
	for _, both := range [][2]Curves{{want, want}, {want, nothing}, {nothing, want}} {
		if d := sameCurves(s, both[0], both[1]); d != nil {
			t.Errorf("%v, not %v: %v", both[1], both[0], d)
		}
	}
	if fmt.Sprint(want.Euler()) != "[{1 2} {3 2}]" || want.At(2) != (Numbers{1, 2, 3}) ||
		want.At(3) != (Numbers{1, 0, 3}) || want.superlevelNumbers(2) != (Numbers{0, -2, 0}) {
		t.Errorf("%v", want.Euler())
	}
	if c := Joined(ecc.VCEC{{Level: 1, Change: 1}}, ecc.VCEC{{Level: 1, Change: 3}}, want.Euler()); !slices.Equal(c, want) {
		t.Errorf("%v", c)
	}
}

// Curves decode as they were encoded, for any levels and changes. Truncated and extended bytes do
// not decode.
func curvesAreWritten(t *testing.T) {
	for _, c := range []Curves{{}, PoisonedCurves, {{1, Numbers{1, 2, 3}}, {300, Numbers{-1, 0, 1 << 40}}, {1 << 40, Numbers{-70, 64, -1 << 40}}}} {
		b := EncodeCurves(c)
		if got, err := DecodeCurves(b); err != nil || !slices.Equal(got, c) {
			t.Errorf("%v (%v), want %v", got, err, c)
		}
		for i := range b {
			if got, err := DecodeCurves(b[:i]); err == nil {
				t.Errorf("%d of %d bytes are %v", i, len(b), got)
			}
		}
		if got, err := DecodeCurves(append(b, 0)); err == nil {
			t.Errorf("a byte more is %v", got)
		}
	}
	if got, err := DecodeCurves(binary.AppendUvarint(nil, 1<<62)); err == nil {
		t.Errorf("%d changes of no bytes", len(got))
	}
}

// The converted answer for a view equals the fill of the image's own sets in each convention.
// Poison remains, and impossible views are rejected.
func curvesAreTurned(t *testing.T) {
	ours := func(view grid.Source) (Curves, error) { return filledCurves(view, ecc.Convention{}) }
	for _, in := range fewLevels(t) {
		for _, c := range everyConvention() {
			want, err := filledCurves(in, c)
			if err != nil {
				t.Fatal(err)
			}
			w := CurvesWorkload(bench.FromFunc(ours))
			if w.Reference != w.Impls[0].About().Name {
				t.Errorf("the reference is %q", w.Reference)
			}
			w = CurvesInConvention(w, c)
			if got, err := bench.Answer(w.Impls[0], grid.Source(in), bench.Conditions{}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %+v: %v (%v), want %v", in.Shape(), c, got, err, want)
			}
			w = CurvesInConvention(CurvesWorkload(bench.FromFunc(func(grid.Source) (Curves, error) { return PoisonedCurves, nil })), c)
			if got, err := bench.Answer(w.Impls[0], grid.Source(in), bench.Conditions{}); err != nil || !slices.Equal(got, PoisonedCurves) {
				t.Errorf("%+v: %v of what was overwritten (%v)", c, got, err)
			}
			w = CurvesInConvention(CurvesWorkload(bench.FromFunc(func(grid.Source) (Curves, error) { return nil, gridtest.ErrUnread })), c)
			if got, err := bench.Answer(w.Impls[0], grid.Source(in), bench.Conditions{}); !errors.Is(err, gridtest.ErrUnread) {
				t.Errorf("%+v: %v of who fails (%v)", c, got, err)
			}
		}
	}
	in := grid.Source(fewLevels(t)[0])
	for _, c := range []ecc.Convention{{Periodic: grid.Axes{X: true}}, {Periodic: grid.Axes{Z: true}, Vertices: true}} {
		w := CurvesInConvention(CurvesWorkload(bench.FromFunc(ours)), c)
		if w.Impls[0].CanDo(in, bench.Conditions{}) == nil {
			t.Errorf("%+v is not refused", c)
		}
		if _, err := w.Impls[0].Setup(in, bench.Conditions{}); err == nil {
			t.Errorf("%+v is set up", c)
		}
	}
}

// The laws accept right curves and reject wrong ones. Unions in order detect any wrong number at any
// level; the others only where they check. They make no statement if the image is unreadable or no
// other answer is available.
func curvesLawsTell(t *testing.T) {
	// Every value is a level; voxels are on the first one and on the last.
	identity := func(f *grid.Field) grid.Source {
		return gridtest.Image(t, f.Shape(), grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 {
			if v := f.Data()[i]; v < 5 {
				return float64(v)
			}
			return 255
		})
	}
	images := fewLevels(t)
	for _, in := range []grid.Source{images[0], images[6], identity(images[5])} {
		for _, c := range everyConvention() {
			right, err := filledCurves(in, c)
			if err != nil {
				t.Fatal(err)
			}
			answer := func(s grid.Source) (Curves, error) { return filledCurves(s, c) }
			laws := CurvesInConvention(CurvesWorkload(bench.FromFunc(answer)), c).Policy.Laws
			for _, l := range laws {
				if d, err := l.Check(in, right, answer); d != nil || err != nil && !errors.Is(err, verify.ErrNotApplicable) {
					t.Errorf("%v, %+v, %s of right curves: %v, %v", in.Shape(), c, l.Name, d, err)
				}
				if l.Calls > 0 {
					if d, err := l.Check(in, right, func(grid.Source) (Curves, error) { return nil, gridtest.ErrUnread }); d != nil || err == nil {
						t.Errorf("%v, %s of who answers nothing else: %v, %v", in.Shape(), l.Name, d, err)
					}
				} else if d, err := l.Check(gridtest.Unread{Source: in}, right, nil); (d != nil || err == nil) && !strings.Contains(l.Name, "box") {
					t.Errorf("%v, %s of an image that is not read: %v, %v", in.Shape(), l.Name, d, err)
				}
			}
			for what, wrong := range wrongCurves(right, in.Ladder().Len()) {
				for _, l := range laws {
					looks := l.Name == Unions(c).Name || strings.HasPrefix(what, "first ") && strings.HasPrefix(l.Name, "flood") && !c.Superlevel ||
						strings.HasPrefix(what, "last ") && strings.HasPrefix(l.Name, "flood") && c.Superlevel ||
						strings.Contains(what, " alone") && strings.Contains(l.Name, "box") && whole(in) || what == "no change 0 alone" && l.Calls > 0 && !strings.Contains(l.Name, "all levels")
					if !looks {
						continue
					}
					d, err := l.Check(in, wrong, answer)
					if (d == nil || err != nil) && !errors.Is(err, verify.ErrNotApplicable) {
						t.Errorf("%v, %+v, %s of %s: %v, %v", in.Shape(), c, l.Name, what, d, err)
					}
					if d != nil && strings.HasPrefix(what, "levels: ") && !strings.HasPrefix(d.Where, "change ") {
						t.Errorf("%v, %+v, %s of %s: %v", in.Shape(), c, l.Name, what, d)
					}
				}
			}
		}
	}
	in := grid.Source(images[0])
	if _, err := box(ecc.Convention{})(in, nil, nil); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("a ladder that not all values are on: %v", err)
	}
	if d, err := box(ecc.Convention{})(identity(images[0]), nil, nil); d == nil || err != nil {
		t.Errorf("no component of all voxels: %v, %v", d, err)
	}
	if _, err := filledAt(in, nil, ecc.Convention{}); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("curves without a change: %v", err)
	}
	few, err := filledCurves(images[1], ecc.Convention{})
	if err != nil || len(few) != filledLevels {
		t.Fatalf("%v (%v), want %d changes", few, err, filledLevels)
	}
	for i := range few { // each of the filled levels
		wrong := slices.Clone(few)
		if wrong[i].B1++; i+1 < len(few) {
			wrong[i+1].B1--
		}
		if d, err := filledAt(images[1], wrong, ecc.Convention{}); d == nil || err != nil {
			t.Errorf("wrong at level %d alone: %v, %v", few[i].Level, d, err)
		}
	}
	for n, said := range map[int]bool{0: true, 1: true, 2: false, 3: false} {
		if (weakCurves(in, few[:n]) != "") != said {
			t.Errorf("%d changes: %q", n, weakCurves(in, few[:n]))
		}
	}
}

// A wrong change of a number is reported at the first level where it occurs.
func unlikeIsTold(t *testing.T) {
	in := fewLevels(t)[0]
	number := func(n Numbers) int64 { return n.B1 }
	out := func(steps ...unions.Step) (c Curves) {
		for _, s := range steps {
			c = append(c, Change{s.Level, Numbers{B0: 9, B1: s.Change}})
		}
		return c
	}
	right := []unions.Step{{Level: 0, Change: 2}, {Level: 2, Change: -1}, {Level: 5, Change: 4}}
	for _, c := range []struct {
		got  Curves
		said string
	}{
		{out(right...), ""}, {out(unions.Step{Level: 0, Change: 2}, unions.Step{Level: 1}, unions.Step{Level: 2, Change: -1}, unions.Step{Level: 5, Change: 4}), ""},
		{out(right[1:]...), "level 0 (value 0): a change of +2, a change of +0"}, {out(right[0], right[2]), "level 2 (value 2): a change of -1, a change of +0"},
		{out(right[:2]...), "level 5 (value 5): a change of +4, a change of +0"}, {nil, "level 0 (value 0): a change of +2, a change of +0"},
		{out(right[0], unions.Step{Level: 1, Change: 3}), "level 1 (value 1): a change of +0, a change of +3"},
		{out(right[0], right[1], unions.Step{Level: 5, Change: 3}), "level 5 (value 5): a change of +4, a change of +3"},
		{out(right[0], right[1], right[2], unions.Step{Level: 6, Change: 3}), "level 6: a change of +0, a change of +3"},
	} {
		said := ""
		if d := firstDifferingLevel(in, "b1", right, c.got, number); d != nil {
			said = strings.TrimPrefix(d.Where, "b1 at ") + ": " + d.Want + ", " + d.Got
		}
		if said != c.said {
			t.Errorf("%v: %q, want %q", c.got, said, c.said)
		}
	}
}

// wrongCurves returns curves that differ in one or two numbers at one level, or in the levels.
func wrongCurves(right Curves, levels int64) map[string]Curves {
	list := map[string]Curves{}
	for i := range right {
		place := ""
		if i == 0 {
			place = "first "
		}
		if i == len(right)-1 {
			place = "last " + place
		}
		for k, by := range []Numbers{{B0: 1}, {B1: -1}, {B2: 1}, {1, 1, 0}, {0, 1, 1}, {1, 0, -1}} {
			wrong := slices.Clone(right)
			wrong[i].Numbers = wrong[i].Plus(by)
			list[fmt.Sprintf("%schange %d by %v alone, %d", place, i, by, k)] = wrong
		}
		list[fmt.Sprintf("no change %d alone", i)] = slices.Delete(slices.Clone(right), i, i+1)
		list[fmt.Sprintf("levels: change %d twice", i)] = slices.Insert(slices.Clone(right), i, right[i])
		if level := right[i].Level + 1; level < levels && (i+1 == len(right) || right[i+1].Level > level) {
			wrong := slices.Clone(right)
			wrong[i].Level = level
			list[fmt.Sprintf("change %d a level above", i)] = wrong
		}
	}
	nothing := Numbers{1, 1, 0}
	list["levels: a change below all"] = append(Curves{{-1, nothing}}, right...)
	list["levels: a change above all"] = append(slices.Clone(right), Change{levels, nothing})
	return list
}

// Lines have the numbers of the sets at the levels of change, in growing order, and all formats
// agree.
func linesAre(t *testing.T) {
	type line struct {
		Level      float32
		B0, B1, B2 int64
	}
	in := fewLevels(t)[0]
	labels, err := grid.NewLabels("float64", []float64{-1, 0.1, 1e200})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range everyConvention() {
		curves, err := filledCurves(in, c)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []line
		for i := range curves {
			if c.Superlevel {
				i = len(curves) - 1 - i
			}
			n, err := ByFlooding(&Image{in, in.Ladder().Value(curves[i].Level)}, c)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, line{in.Ladder().Value(curves[i].Level), n.B0, n.B1, n.B2})
		}
		lines := LinesOf(in, curves, c)
		lines.Each(func(level float32, n Numbers) { got = append(got, line{level, n.B0, n.B1, n.B2}) })
		if !slices.Equal(got, want) || lines.Len() != int64(len(want)) {
			t.Errorf("%+v: %d lines %v, want %v", c, lines.Len(), got, want)
		}
		p := ecc.Provenance{Input: "an image"}
		written := func(format ecc.Format, header bool) []byte {
			var b bytes.Buffer
			if err := lines.Write(&b, format, p, header); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		csv, npy := "", ecc.NPYHeader(nil, int64(len(want)), "b0", "b1", "b2")
		for _, l := range want {
			csv += fmt.Sprintf("%v,%d,%d,%d\n", l.Level, l.B0, l.B1, l.B2)
			npy = binary.LittleEndian.AppendUint32(npy, math.Float32bits(l.Level))
			for _, n := range []int64{l.B0, l.B1, l.B2} {
				npy = binary.LittleEndian.AppendUint64(npy, uint64(n))
			}
		}
		for header, want := range map[bool]string{false: csv, true: p.Comment() + "\nlevel,b0,b1,b2\n" + csv} {
			if got := string(written(ecc.CSV, header)); got != want {
				t.Errorf("%+v: %q, want %q", c, got, want)
			}
		}
		if got := written(ecc.NPY, false); !bytes.Equal(got, npy) {
			t.Errorf("%+v: %q, want %q", c, got, npy)
		}
		var read struct {
			Input string
			Betti []line
		}
		if err := json.Unmarshal(written(ecc.JSON, false), &read); err != nil || !slices.Equal(read.Betti, want) || read.Input != p.Input {
			t.Errorf("%+v: %+v (%v), want %v", c, read, err, want)
		}
	}
	ranked := Lines{Labels: labels, curves: Curves{{int64(grid.EveryLevel(grid.Ranked(1))), Numbers{1, 2, 3}}}, ladder: grid.Identity(grid.Float32)}
	var b bytes.Buffer
	if err := ranked.Write(&b, ecc.CSV, ecc.Provenance{}, false); err != nil || b.String() != "0.1,1,2,3\n" {
		t.Errorf("%q of a level that stands for another (%v)", b.String(), err)
	}
}
