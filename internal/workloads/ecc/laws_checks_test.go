package ecc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
	"eccbench/internal/isa"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/fingerprint"
)

var errBroken = gridtest.ErrUnread

// If any read of an image fails, a law of a right answer returns the error or does not apply.
func failedReadsAreTold(t *testing.T) {
	f := scattered(t, grid.Shape{D: 4, H: 3, W: 2}, grid.Float32, 7)
	right := Enumerate(f)
	for _, l := range allLaws() {
		for reads := int64(0); ; reads++ {
			b := gridtest.BreaksAfter(f, reads, nil)
			d, err := l.Check(b, right, func(in grid.Source) (VCEC, error) { return counted(in, 0) })
			told := errors.Is(err, errBroken) || l.Name == "an error put into the answer is found" && err == nil // its neighbourhood is not shown
			if whole := b.Left() >= 0; errors.Is(err, verify.ErrNotApplicable) || whole && d == nil && err == nil {
				break
			} else if d != nil || whole || !told {
				t.Errorf("the law %q, of which read %d fails: %v, %v", l.Name, reads, d, err)
				break
			}
		}
	}
}

// Laws that read an image twice reject one that changes in between.
func changesAreSeen(t *testing.T) {
	shape := grid.Shape{D: 4, H: 3, W: 2}
	f := scattered(t, shape, grid.Float32, 7)
	other := gridtest.Image(t, shape, grid.Float32, f.Ladder(), func(i int64) float64 { return float64((i * i * 5) % 7) })
	k := fingerprint.Draw(1)
	for _, l := range []law{oneFingerprint(k), joinedLooks(k)} {
		seen := len(isa.Available(cells.Assembled)) == 1 && l.Name == oneFingerprint(k).Name
		for reads := int64(1); ; reads++ {
			b := gridtest.BreaksAfter(f, reads, other)
			d, err := l.Check(b, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen = seen || d != nil
			if b.Left() >= 0 {
				break
			}
		}
		if !seen {
			t.Errorf("the law %q of an image that changes says nothing", l.Name)
		}
	}
}

// A law makes no statement if only some questions are rejected, and reports if all are. A law
// applies in a convention to views of the whole or of pieces.
func asksAreHeard(t *testing.T) {
	f := scattered(t, grid.Shape{D: 12, H: 3, W: 4}, grid.Float32, 7)
	refused := errors.New("no")
	for _, l := range allLaws() {
		asked, most, viewed := 0, int64(0), false
		_, err := l.Check(f, Enumerate(f), func(grid.Source) (VCEC, error) { asked++; return nil, bench.Refuse(refused) })
		if asked > 0 && (errors.Is(err, verify.ErrNotApplicable) != (l.Name == everyLaw) || !errors.Is(err, verify.ErrNotApplicable) && !errors.Is(err, refused)) {
			t.Errorf("the law %q, refused, says %v", l.Name, err)
		}
		if (asked > 0) != (l.Calls > 0) {
			t.Errorf("the law %q asks %d times, of %v", l.Name, asked, l.Calls)
		}
		if _, err := l.Check(f, Enumerate(f), func(in grid.Source) (VCEC, error) {
			most = max(most, in.Shape().Slices())
			_, held := in.(*grid.Field)
			viewed = viewed || !held
			return counted(in, 0)
		}); err == nil && asked > 0 {
			if pieces := l.Name == "sum of pieces" || l.Name == "cut at a shared slice" || strings.HasSuffix(l.Name, ", in pieces"); (most < 12) != pieces {
				t.Errorf("the law %q asks about %d slices of 12", l.Name, most)
			}
			if !viewed && slices.Contains([]string{"superlevel sets", "voxels as vertices", "axes closed to rings"}, l.Name) {
				t.Errorf("the law %q asks about no view", l.Name)
			}
		}
	}
}

// The report of a wrong curve names the lower one of two wrong levels and shows its neighbourhood. If that cannot be
// read, it is an error. A curve that is not in canonical form is wrong, whatever its sum.
func wrongLevelsAreNamed(t *testing.T) {
	f := scattered(t, grid.Shape{D: 6, H: 5, W: 4}, grid.Uint8, 7)
	right := Enumerate(f)
	law := Fingerprinted(fingerprint.Draw(1), 1)
	for i := range right[1:] {
		wrong := slices.Clone(right)
		wrong[i].Change += 5
		wrong[i+1].Change -= 5
		want := atLevel(f, right[i].Level, "a change of %+d", right[i].Change, wrong[i].Change)
		if d, err := law.Check(f, wrong, nil); err != nil || !alikeDiff(d, want) || !strings.Contains(d.Context, law.Note) || !strings.HasSuffix(d.Context, want.Context) {
			t.Errorf("changes %d and %d are wrong: %+v (%v)", i, i+1, d, err)
		}
		for reads := int64(0); ; reads++ {
			b := gridtest.BreaksAfter(f, reads, nil)
			if d, err := law.Check(b, wrong, nil); b.Left() >= 0 {
				break
			} else if err == nil && !alikeDiff(d, want) || err != nil && !errors.Is(err, errBroken) {
				t.Errorf("changes %d and %d are wrong, and read %d fails: %v (%v)", i, i+1, reads, d, err)
			}
		}
	}
	twice := slices.Clone(right)
	twice[2].Change--
	for want, wrong := range map[string]VCEC{
		"a level above": slices.Insert(twice, 2, Step{twice[2].Level, 1}), "one of 7 levels": append(slices.Clone(right), Step{7, 1}), "one of": append(VCEC{{-1, 0}}, right...),
	} {
		if d := misplaced(wrong, 7); d == nil || !strings.HasPrefix(d.Want, want) {
			t.Errorf("%v: %v, want %s", wrong, d, want)
		}
	}
}

// The laws apply as declared: to images with drawn levels, with values on levels, and with all
// cells listed.
func lawsApply(t *testing.T) {
	in := gridtest.VastOf(grid.Shape{D: 1, H: 9, W: 9}, grid.Float32)
	isStep, drawn := map[int64]bool{5: true, 1 << 20: true, 1<<24 - 1: true}, map[int64]bool{}
	for stream := range uint64(20) {
		for i, level := range sampled(in, VCEC{{5, 1}, {1 << 20, -3}, {1<<24 - 1, 3}}, stream, 8) {
			if drawn[level] = true; level < 0 || level >= in.Ladder().Len() || isStep[level] != (i%2 == 0) {
				t.Errorf("stream %d: level %d at place %d", stream, level, i)
			}
		}
	}
	if none := sampled(in, nil, 0, 4); len(drawn) < 80 || len(none) != 4 {
		t.Errorf("%d levels are drawn, want 3 steps and 80 others, and %d of no steps", len(drawn), len(none))
	}
	f := scattered(t, grid.Shape{D: 5, H: 3, W: 4}, grid.Uint8, 7)
	const room = 1000
	height := f.Shape().Slices()
	var one int64 // level's reads: of each slice, and again of those before a core's own
	for _, n := range []int64{1, 3} {
		b := gridtest.BreaksAfter(f, room, nil)
		d, err := definition(int(n))(b, Enumerate(f), nil)
		reads := room - b.Left()
		if n == 1 {
			one = reads
		}
		if d != nil || err != nil || one < height || one > 2*height || reads != n*one {
			t.Errorf("%d levels take %d reads, one takes %d (%v, %v)", n, reads, one, d, err)
		}
	}
	l, err := grid.Affine(0, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	above := func(typ grid.Type, w int64, l grid.Ladder, value func(i int64) float64) *grid.Field { // all levels, some of it
		f := gridtest.Image(t, grid.Shape{D: 1, H: 1, W: w}, typ, grid.Identity(typ), value)
		if f, err = grid.Trusted(f.Shape(), typ, f.Data(), l); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		typ    grid.Type
		values []float64
		want   []float32 // nil where the law does not apply
	}{
		{grid.Float32, []float64{-5, 0, 0.5, 4}, []float32{0, 0, 2, 4}}, {grid.Float32, []float64{0, 0, 0, 5}, nil}, {grid.Uint8, []float64{0, 2, 4, 4}, []float32{0, 2, 4, 4}}, {grid.Uint8, []float64{0, 1, 2, 4}, nil},
		{grid.Int16, []float64{0, 2, 4, 2}, []float32{0, 2, 4, 2}}, {grid.Int16, []float64{-1, 2, 4, 2}, nil}, {grid.Uint16, []float64{4, 2, 0, 2}, []float32{4, 2, 0, 2}}, {grid.Uint16, []float64{4, 2, 3, 2}, nil},
	} {
		in, err := OnLevels(above(c.typ, 4, l, func(i int64) float64 { return c.values[i] }))
		if c.want == nil {
			if !errors.Is(err, verify.ErrNotApplicable) {
				t.Errorf("%v: %v", c.values, err)
			}
		} else if err != nil || !slices.Equal(in.(*grid.Field).Floats(), c.want) {
			t.Errorf("%v %v: %v, want %v (%v)", c.typ, c.values, in, c.want, err)
		}
	}
	for _, c := range []struct {
		w, levels int64
		above     bool
		want      bool
	}{{mostEnumerated, 3, false, true}, {mostEnumerated + 1, 3, false, false}, {4, mostWritten, false, true}, {4, mostWritten + 1, false, false}, {4, 3, true, false}} {
		on, err := grid.Affine(0, 1, c.levels)
		if err != nil {
			t.Fatal(err)
		}
		f := above(grid.Float32, c.w, on, func(i int64) float64 {
			if c.above && i == 2 {
				return 99
			}
			return float64(i % 2)
		})
		if d, err := enumerated(f, nil, nil); (d != nil) != c.want || errors.Is(err, verify.ErrNotApplicable) == c.want {
			t.Errorf("%+v: %v, %v", c, d, err)
		}
	}
	in = gridtest.VastOf(grid.Shape{D: 1 << 10, H: 1 << 8, W: 1 << 8}, grid.Uint8)
	for _, ns := range []int{1, 5, 80} {
		if got, one := viewing(ns)(in), viewing(1)(in); got < time.Duration(ns)*one || got >= time.Duration(ns)*(one+1) {
			t.Errorf("%d ns a voxel: %v, where 1 ns is %v", ns, got, one)
		}
	}
}

// A disagreement shows the first voxel on its level and its neighbours, at every border and
// anywhere in an image. It reports the value of the level.
func neighbourhoods(t *testing.T) {
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
		{grid.Shape{D: 3, H: 300, W: 300}, 1, "levels around the first voxel on it, z 2 y 299 x 299:\n  0 0 . / 0 0 . / . . .\n  0 0 . / 0 1 . / . . ."}, // several stretches
	} {
		data := make([]byte, c.shape.Voxels())
		for i := range data[:min(len(data), 256)] {
			data[i] = byte(i)
		}
		if len(data) > 256 { // zeroes before a one
			clear(data[:256])
			data[len(data)-1] = 1
		}
		in := struct{ grid.Source }{gridtest.OfBytes(t, c.shape, data...)}
		if d := first(in, VCEC{{c.level, 1}}, nil); d == nil || d.Context != c.want {
			t.Errorf("%v, level %d: %q, want %q", c.shape, c.level, strings.TrimSpace(d.Context), c.want)
		}
		if len(data) > 256 {
			continue
		}
		for reads := int64(0); ; reads++ {
			b := gridtest.BreaksAfter(in, reads, nil)
			if got := neighbourhood(b, c.level); b.Left() >= 0 {
				break
			} else if got != "cannot read the neighbourhood: "+errBroken.Error() {
				t.Errorf("read %d fails: %q", reads, got)
			}
		}
	}
	l, err := grid.Affine(5, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	f := gridtest.Image(t, grid.Shape{D: 1, H: 1, W: 1}, grid.Float32, l, func(int64) float64 { return 5 })
	for level, want := range map[int64]string{-1: "level -1", 0: "level 0 (value 5)", 2: "level 2 (value 9)", 3: "level 3"} {
		if d := atLevel(f, level, "%d", 1, 2); d.Where != want || d.Want != "1" || d.Got != "2" {
			t.Errorf("%+v, want %q", d, want)
		}
	}
	for steps, want := range map[int]bool{0: true, 1: true, 2: false, 3: false} {
		if got := weak(nil, make(VCEC, steps)) != ""; got != want {
			t.Errorf("%d steps: weak %v, want %v", steps, got, want)
		}
	}
}

// Curves of any number of steps can be read back; invalid curves cannot.
func curvesReadBack(t *testing.T) {
	on := func(levels int64) grid.Source {
		l, err := grid.Affine(-2, 0.5, levels)
		if err != nil {
			t.Fatal(err)
		}
		return gridtest.Vast{Size: grid.Shape{D: 1, H: 1, W: 1}, Of: grid.Float32, Levels: l}
	}
	var turned VCEC // where not each line is looked up by its value
	for k := range int64(34) {
		turned = append(turned, Step{k, 1})
	}
	turned[1], turned[2] = turned[2], turned[1]
	for _, c := range []struct {
		levels int64
		out    VCEC
		want   bool
	}{
		{9, nil, true}, {9, VCEC{{0, 1}}, true}, {9, VCEC{{8, -3}}, true}, {9, VCEC{{0, 1}, {3, -7}, {4, 12}, {8, 5}}, true}, {9, VCEC{{2, math.MaxInt64}}, true}, {9, VCEC{{2, math.MinInt64}}, true},
		{9, VCEC{{3, 1}, {2, 1}}, false}, {9, VCEC{{3, 1}, {3, 1}}, false}, {9, VCEC{{3, 0}}, false}, {40, turned, false}, {mostRead + 1, VCEC{{3, 1}, {2, 1}}, false}, {mostWritten, VCEC{{3, 1}, {2, 1}}, false},
	} {
		if d, err := readBack.Check(on(c.levels), c.out, nil); err != nil || (d == nil) != c.want {
			t.Errorf("%v of %d levels: %v, %v", c.out, c.levels, d, err)
		}
		for _, in := range []Convention{{}, {Superlevel: true}} { // whole, where a line is not written for each level
			if err := newReader(on(c.levels), c.out, in, CSV).whole(); (err == nil) != c.want {
				t.Errorf("%v of %d levels, %+v: %v", c.out, c.levels, in, err)
			}
		}
		if got, err := Decode(Encode(c.out)); err != nil || !slices.Equal(got, c.out) {
			t.Errorf("%v is read as %v (%v)", c.out, got, err)
		}
	}
	if _, err := readBack.Check(on(mostWritten+1), nil, nil); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("of more levels: %v", err)
	}
	// Any other byte is seen, except in the words of a comment, and so is each missing byte, in
	// reading and writing.
	in, out := on(40), VCEC{{0, 1}, {3, -7}, {4, 12}, {39, 5}}
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
			wrong := bytes.Clone(b.Bytes())
			if wrong[i] = '?'; f == NPY {
				wrong[i] = c ^ 1
			}
			if got, err := r.parse(wrong); err == nil && slices.Equal(got, want) && (c != ' ' || f != JSON) {
				t.Errorf("%s reads as the same with another byte %d of %q", f, i, b.String())
			}
			if got, err := r.parse(b.Bytes()[:i]); err == nil && slices.Equal(got, want) && i < b.Len()-2 { // the last bytes may be white space
				t.Errorf("%s reads as the same without bytes after %d of %d", f, i, b.Len())
			}
			if err := r.Write(&full{i}, f, r.p, true); !errors.Is(err, errBroken) {
				t.Errorf("%s, of which %d bytes are written, of %d: %v", f, i, b.Len(), err)
			}
		}
		if err := WriteChunks(&b, f, r.p, true, 1, func(yield func(Lines, error) bool) { yield(Lines{}, errBroken) }); !errors.Is(err, errBroken) {
			t.Errorf("%s of lines that fail: %v", f, err)
		}
	}
	b := Encode(out)
	for n := range b {
		if _, err := Decode(b[:n]); err == nil {
			t.Errorf("%d bytes of %d are a curve", n, len(b))
		}
	}
	if _, err := Decode(append(b, 0)); err == nil {
		t.Error("what follows a curve is a part of it")
	}
}

// full takes some bytes and then no more.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// A joiner has jobs that join, and counts their calls.
type joiner struct {
	bench.Implementation[grid.Source, VCEC]
	joined *int
}

func (joiner) PieceBytes(grid.Source, int64, int) int64 { return 0 }

func (j joiner) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	return &joinJob{sumJob: &sumJob{impl: j.Implementation, c: c, bound: map[grid.Shape]boundJob{}}, joined: j.joined}, nil
}

type joinJob struct {
	*sumJob
	joined *int
	open   bool // the piece before is without its last slice
}

func (j *joinJob) AddJoined(p grid.Piece) error {
	*j.joined++
	err := j.Add(p.Field, p.Times)
	if p.Shared != nil && !j.open {
		err = errors.Join(err, j.Add(p.Shared, -p.Times))
	}
	if j.open = p.More; j.open {
		s := p.Shape()
		last, failed := grid.Trusted(grid.Shape{D: 1, H: s.H, W: s.W}, p.Type(), p.Data()[grid.SliceBytes(p)*(s.D-1):], p.Ladder())
		err = errors.Join(err, failed, j.Add(last, -p.Times))
	}
	return err
}

// The shards of an image add up to its curve and fingerprint, joined or not, spilled as often as
// requested. Wrong spills, wrong answers and all errors are reported.
func sharesAddUp(t *testing.T) {
	f := scattered(t, grid.Shape{D: 9, H: 4, W: 5}, grid.Uint8, 7)
	own := bench.FromFunc(func(in grid.Source) (VCEC, error) { return counted(in, 0) })
	joined := 0
	impls := []bench.Implementation[grid.Source, VCEC]{own, joiner{own, &joined}}
	set := bench.Conditions{Setting: bench.Setting{Threads: 1}}
	key := fingerprint.Draw(1)
	share := func(by int, in Convention, of grid.Span, b PieceHooks, image grid.Source) (VCEC, fingerprint.Sum, *verify.Diff, error) {
		w, sum := InShare(bench.Workload[grid.Source, VCEC]{Impls: impls[by : by+1]}, in, of, key, b)
		if _, err := w.Policy.Laws[0].Check(f, nil, nil); err == nil {
			t.Error("an answer is held to the fingerprint of what was not read")
		}
		out, err := bench.Answer(w.Impls[0], image, set)
		if err != nil {
			return nil, nil, nil, err
		}
		d, err := w.Policy.Laws[0].Check(image, out, nil)
		if wrong, err := w.Policy.Laws[0].Check(image, out.Plus(VCEC{{0, 1}}, 1), nil); wrong == nil || err != nil {
			t.Errorf("%+v, %v: a wrong answer is not found (%v)", in, of, err)
		}
		return out, sum(), d, err
	}
	for _, in := range []Convention{{}, {Superlevel: true}, {Vertices: true}, {Periodic: grid.Axes{X: true, Z: true}}} {
		want, err := bench.Answer(InConvention(bench.Workload[grid.Source, VCEC]{Impls: impls[:1]}, in).Impls[0], grid.Source(f), set)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := fingerprint.Compute(f, key.WithConvention(in).ForLevels(7), 1)
		if err != nil {
			t.Fatal(err)
		}
		for by := range impls {
			for voxels, spills := range map[int64]int{0: 0, 40: 5, 41: 3} { // pieces of 40, 60, 60, 60, 40 voxels
				for _, cut := range []int64{0, 1, 4} {
					var got VCEC
					var all fingerprint.Sum
					seen, spilled := int64(0), 0
					b := PieceHooks{See: func(piece *grid.Field, times int64) error { seen += times * piece.Shape().Voxels(); return nil }, Voxels: voxels}
					if voxels > 0 {
						b.Spill = func(some VCEC) error { got, spilled = got.Plus(some, 1), spilled+1; return nil }
					}
					joined = 0
					for _, of := range []grid.Span{{Lo: 0, Hi: cut}, {Lo: cut, Hi: 9}} {
						out, some, d, err := share(by, in, of, b, struct{ grid.Source }{f})
						if err != nil || d != nil {
							t.Fatalf("%+v, %v: %v (%v)", in, of, d, err)
						}
						got = got.Plus(out, 1)
						all.Add(some, 1)
					}
					plain, joins := in == (Convention{}), in == (Convention{Superlevel: in.Superlevel}) && by == 1
					if !slices.Equal(got, want) || !all.Equal(sum) || plain && seen != f.Shape().Voxels() || plain && cut == 0 && spilled != spills || (joined > 0) != joins {
						t.Errorf("%+v, cut at %d: %v, %v, want %v, %v; %d voxels are seen, %d spills of %d, %d pieces are joined", in, cut, got, all, want, sum, seen, spilled, voxels, joined)
					}
				}
			}
		}
	}
	whole := grid.Whole(f)
	b := PieceHooks{Spill: func(VCEC) error { return nil }, Voxels: 40}
	for by := range impls {
		for what, b := range map[string]PieceHooks{"seeing": {See: func(*grid.Field, int64) error { return errBroken }}, "seeing what is shared": {See: func(_ *grid.Field, times int64) error {
			if times < 0 {
				return errBroken
			}
			return nil
		}, Spill: b.Spill, Voxels: 40}, "spilling": {Spill: func(VCEC) error { return errBroken }, Voxels: 40}} {
			if _, _, _, err := share(by, Convention{}, whole, b, f); !errors.Is(err, errBroken) {
				t.Errorf("%s fails: %v", what, err)
			}
		}
		for reads := int64(0); ; reads++ {
			image := gridtest.BreaksAfter(f, reads, nil)
			if _, _, _, err := share(by, Convention{}, whole, b, image); image.Left() >= 0 {
				break
			} else if !errors.Is(err, errBroken) {
				t.Errorf("read %d fails: %v", reads, err)
			}
		}
		right := impls[by]
		impls[by] = bench.FromFunc(func(in grid.Source) (VCEC, error) { return counted(in, 1) })
		if by == 1 {
			impls[by] = joiner{impls[by], &joined}
		}
		w, _ := InShare(bench.Workload[grid.Source, VCEC]{Impls: impls[by : by+1]}, Convention{}, whole, key, b)
		if out, err := bench.Answer(w.Impls[0], grid.Source(f), set); err != nil {
			t.Error(err)
		} else if d, err := w.Policy.Laws[0].Check(f, out, nil); d == nil || err != nil {
			t.Errorf("a wrong spill is not found (%v)", err)
		}
		impls[by] = right
	}
	w := InOnePass(bench.Workload[grid.Source, VCEC]{Impls: impls[:1]}, Convention{}, 2)
	job, err := w.Impls[0].Setup(f, set)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Do(nil); err != nil {
		t.Fatal(err)
	}
	job.Poison()
	if out, err := job.Out(); len(out) > 0 || err != nil {
		t.Errorf("after it was overwritten: %v (%v)", out, err)
	}
	if _, err := w.Policy.Laws[1].Check(f, Enumerate(f), nil); err == nil {
		t.Error("an answer is held to a fingerprint that was overwritten")
	}
}

// A somewhere is an implementation on the host or a device that records the number of slices of
// each call.
type somewhere struct {
	bench.Implementation[grid.Source, VCEC]
	where  string
	slices *int64
}

func (a somewhere) About() bench.About { return bench.About{Where: a.where} }

func (a somewhere) CanDo(in grid.Source, _ bench.Conditions) error {
	*a.slices = in.Shape().Slices()
	return nil
}

// A gapped implementation takes images with voxels above the last level.
type gapped struct {
	bench.Implementation[grid.Source, VCEC]
}

func (gapped) Gapped() {}

// A failing implementation fails after the given number of calls of itself or of its jobs.
type failing struct {
	bench.Implementation[grid.Source, VCEC]
	left *int
}

func (f failing) next(err error) error {
	if *f.left--; *f.left == -1 {
		return errBroken
	}
	return err
}

func (f failing) CanDo(in grid.Source, c bench.Conditions) error {
	return f.next(f.Implementation.CanDo(in, c))
}

func (f failing) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	job, err := f.Implementation.Setup(in, c)
	if err = f.next(err); err != nil {
		return nil, err
	}
	return failingJob{job, f}, nil
}

type failingJob struct {
	bench.Job[VCEC]
	failing
}

func (j failingJob) Do(t *bench.Trace) error { return j.next(j.Job.Do(t)) }
func (j failingJob) Close() error            { return j.next(j.Job.Close()) }
func (j failingJob) Out() (VCEC, error) {
	out, err := j.Job.Out()
	return out, j.next(err)
}

// If any call of an implementation fails, the count fails.
func failedCallsAreTold(t *testing.T) {
	f := scattered(t, grid.Shape{D: 6, H: 3, W: 2}, grid.Uint8, 7)
	for what, by := range map[string]func(own failing) bench.Workload[grid.Source, VCEC]{
		"views": func(own failing) bench.Workload[grid.Source, VCEC] {
			return InConvention(bench.Workload[grid.Source, VCEC]{Impls: []bench.Implementation[grid.Source, VCEC]{own}}, Convention{Vertices: true, Periodic: grid.Axes{X: true}})
		},
		"pieces": func(own failing) bench.Workload[grid.Source, VCEC] {
			return InOnePass(bench.Workload[grid.Source, VCEC]{Impls: []bench.Implementation[grid.Source, VCEC]{own}}, Convention{Superlevel: true}, 2)
		},
		"joined pieces": func(own failing) bench.Workload[grid.Source, VCEC] {
			w, _ := InShare(bench.Workload[grid.Source, VCEC]{Impls: []bench.Implementation[grid.Source, VCEC]{joiner{own, new(int)}}}, Convention{}, grid.Whole(f), fingerprint.Draw(1), PieceHooks{Spill: func(VCEC) error { return nil }, Voxels: 13})
			return w
		},
	} {
		for calls := 0; ; calls++ {
			left := calls
			_, err := bench.Answer(by(failing{bench.FromFunc(func(in grid.Source) (VCEC, error) { return counted(in, 0) }), &left}).Impls[0], grid.Source(f), bench.Conditions{Setting: bench.Setting{Threads: 1}})
			if left >= 0 {
				if err != nil || calls < 5 {
					t.Errorf("%s: %d calls, %v", what, calls, err)
				}
				break
			}
			if !errors.Is(err, errBroken) {
				t.Errorf("%s, of which call %d fails: %v", what, calls, err)
			}
		}
	}
}

// countedWithin returns the curve of an image on few levels; voxels above the last level do not
// belong to it.
func countedWithin(t *testing.T, in grid.Source) (VCEC, error) {
	f, err := grid.Load(in)
	if err != nil {
		return nil, err
	}
	l := f.Ladder()
	more, err := grid.Affine(0, 1, l.Len()+1)
	if err != nil {
		return nil, err
	}
	values := f.Floats()
	all := Enumerate(gridtest.Image(t, f.Shape(), grid.Float32, more, func(i int64) float64 { return float64(l.Level(values[i])) }))
	return slices.DeleteFunc(all, func(s Step) bool { return s.Level == l.Len() }), nil
}

// CanDo is called for an image with masked voxels if the implementation accepts those: on the host
// for the whole, on a device for a piece.
func viewsAreAsked(t *testing.T) {
	f := scattered(t, grid.Shape{D: 40, H: 3, W: 3}, grid.Uint8, 7)
	plain := bench.FromFunc(func(grid.Source) (VCEC, error) { return VCEC{{0, 1}}, nil })
	for _, c := range []struct {
		impl         bench.Implementation[grid.Source, VCEC]
		masked, want bool
	}{{plain, false, true}, {plain, true, false}, {summing(plain, grid.Whole), true, false}, {summing(gapped{plain}, grid.Whole), true, true}} {
		if err := (viewer{Implementation: c.impl, in: viewed{Masked: c.masked}}).CanDo(f, bench.Conditions{}); (err == nil) != c.want {
			t.Errorf("%T, left out %v: %v", c.impl, c.masked, err)
		}
	}
	// The views of a masked image add up to its fingerprint.
	masked, err := views.Mask(f, scattered(t, f.Shape(), grid.Uint8, 2))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Convention{{Masked: true}, {Masked: true, Vertices: true}, {Masked: true, Vertices: true, Superlevel: true}, {Masked: true, Periodic: grid.Axes{Z: true}}} {
		w := InConvention(bench.Workload[grid.Source, VCEC]{Impls: []bench.Implementation[grid.Source, VCEC]{gapped{bench.FromFunc(func(in grid.Source) (VCEC, error) { return countedWithin(t, in) })}}}, c)
		out, err := bench.Answer(w.Impls[0], masked, bench.Conditions{Setting: bench.Setting{Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := w.Policy.Laws[0].Check(masked, out, nil); d != nil || err != nil {
			t.Errorf("%+v: %v, %v", c, d, err)
		}
	}
	for where, want := range map[string]int64{"cpu": 40, "gpu": 6} {
		asked := int64(0)
		s := summer{somewhere{plain, where, &asked}, func(grid.Source) grid.Span { return grid.Span{Lo: 3, Hi: 8} }}
		if err := s.CanDo(f, bench.Conditions{}); err != nil || asked != want {
			t.Errorf("on a %s: asked of %d slices, want %d (%v)", where, asked, want, err)
		}
	}
	v := VCEC{{1, 5}, {3, -2}, {9, 1}}
	for most := range len(v) + 1 {
		var seen VCEC
		for level, change := range v.All() {
			if len(seen) == most {
				break
			}
			seen = append(seen, Step{level, change})
		}
		if !slices.Equal(seen, v[:most]) {
			t.Errorf("%d of them: %v", most, seen)
		}
	}
	if got := fmt.Sprint(v.At(0), v.At(1), v.At(8), v.At(9)); got != "0 5 3 4" {
		t.Error(got)
	}
}

// With bytes as levels, a run alone finds a wrong answer with a key of its own. The parts of a
// shared run have the fingerprint of the given key.
func bytesReadOnce(t *testing.T) {
	f := gridtest.Image(t, grid.Shape{D: 5, H: 4, W: 6}, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64((i*i + 3) * 7919 % 256) })
	w := bench.Workload[grid.Source, VCEC]{Impls: []bench.Implementation[grid.Source, VCEC]{bench.FromFunc(func(in grid.Source) (VCEC, error) { return counted(in, 0) })}}
	conditions := bench.Conditions{Setting: bench.Setting{Threads: 1}}
	for _, c := range []Convention{{}, {Superlevel: true}, {Vertices: true}, {Periodic: grid.Axes{Z: true}}} {
		key := fingerprint.Draw(1)
		alone := InOnePass(w, c, 2)
		share, sum := InShare(w, c, grid.Whole(f), key, PieceHooks{})
		for what, w := range map[string]bench.Workload[grid.Source, VCEC]{"alone": alone, "a share": share} {
			out, err := bench.Answer(w.Impls[0], grid.Source(f), conditions)
			if err != nil {
				t.Fatal(err)
			}
			laws := w.Policy.Laws
			by := laws[slices.IndexFunc(laws, func(l law) bool { return l.Name == FingerprintLaw })]
			if d, err := by.Check(f, out, nil); d != nil || err != nil {
				t.Errorf("%+v, %s: %v (%v)", c, what, d, err)
			}
			if d, err := by.Check(f, out.Plus(VCEC{{17, 1}, {93, -1}}, 1), nil); d == nil || err != nil {
				t.Errorf("%+v, %s: a wrong answer is taken (%v)", c, what, err)
			}
		}
		if want, err := fingerprint.Compute(f, key.WithConvention(c), 1); err != nil || !sum().Equal(want) {
			t.Errorf("%+v: a share has the fingerprint %v, want %v (%v)", c, sum(), want, err)
		}
	}
}

// Counting and fingerprinting run at the same time if there are enough threads, otherwise in turns.
// An error of the count is reported first, and the count does not wait for the fingerprint.
func goTogether(t *testing.T) {
	both := func(threads int, count, look func() error) error {
		rest, err := countAndLook(threads, 3, count, look)
		if err == nil {
			err = rest()
		}
		return err
	}
	met := make(chan bool) // both run at once
	if err := both(3, func() error { met <- true; return nil }, func() error { <-met; return nil }); err != nil {
		t.Error(err)
	}
	rest, err := countAndLook(3, 3, func() error { return nil }, func() error { <-met; return errBroken })
	met <- true
	if err != nil || !errors.Is(rest(), errBroken) {
		t.Errorf("who has counted is kept: %v", err)
	}
	for threads := 1; threads <= 3; threads++ {
		for _, c := range []struct{ count, look, want error }{{nil, nil, nil}, {errBroken, nil, errBroken}, {nil, errBroken, errBroken}, {errBroken, errors.New("looks"), errBroken}} {
			var looks atomic.Bool
			got := both(threads, func() error { return c.count }, func() error { looks.Store(true); return c.look })
			if !errors.Is(got, c.want) || looks.Load() != (threads == 3 || c.count == nil) {
				t.Errorf("%d cores, %+v: %v, looked %v", threads, c, got, looks.Load())
			}
		}
	}
	var looks atomic.Bool
	checktest.Panics(t, "a count that breaks down", func() {
		both(3, func() error { panic("broken") }, func() error { looks.Store(true); return nil })
	})
	if !looks.Load() {
		t.Error("who looks is left behind by a count that breaks down")
	}
	if err := both(3, func() error { return nil }, func() error { panic("broken") }); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("who looks breaks down: %v", err)
	}
}
