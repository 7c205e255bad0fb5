package ecc

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/sound/grids"
	"eccbench/internal/verify"
)

// Every other level that is looked at has a step, however few these are, and the others are
// any.
func TestSampledLevels(t *testing.T) {
	in, err := datasets.Open("noise/shape=9x9/type=float32/levels=16777216")
	if err != nil {
		t.Fatal(err)
	}
	out := VCEC{{5, 1}, {1 << 20, -3}, {1<<24 - 1, 3}}
	isStep := map[int64]bool{5: true, 1 << 20: true, 1<<24 - 1: true}
	seen := map[int64]bool{}
	for stream := range uint64(20) {
		for i, level := range sampled(in, out, stream, 8) {
			if level < 0 || level >= 1<<24 || isStep[level] != (i%2 == 0) {
				t.Errorf("stream %d: level %d at place %d", stream, level, i)
			}
			seen[level] = true
		}
	}
	if len(seen) < 80 {
		t.Errorf("%d levels were looked at, want 3 steps and 80 others", len(seen))
	}
	for _, level := range sampled(in, nil, 0, 4) {
		if level < 0 || level >= 1<<24 {
			t.Errorf("of an answer without steps: level %d", level)
		}
	}
}

// The definition is asked at as many levels as its laws say, each a reading of the image.
func TestLawsReadAsOftenAsTheySay(t *testing.T) {
	in, err := datasets.Open("noise/shape=9x9x5/type=uint8/levels=200")
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	read := int64(0)
	counted := readings{f, &read}
	for _, l := range Laws() {
		want := map[string]int64{"definition at one level": 1, "definition at three more levels": 3}[l.Name]
		if read = 0; want > 0 {
			if d, err := l.Check(counted, Enumerate(f), nil); d != nil || err != nil || read < want*5 || read >= (want+1)*5 {
				t.Errorf("%s: read %d slices of 5 (%v, %v)", l.Name, read, d, err)
			}
		}
	}
}

// readings counts the slices that are read of an image, by several cores.
type readings struct {
	grid.Source
	slices *int64
}

func (r readings) ReadSlab(dst []byte, lo, hi int64) error {
	atomic.AddInt64(r.slices, hi-lo)
	return r.Source.ReadSlab(dst, lo, hi)
}

// Who has seen enough of an answer's changes is not shown the rest.
func TestAllStops(t *testing.T) {
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
}

// Views of which the first cannot say what it counted have no answer.
func TestViewsThatFail(t *testing.T) {
	f, err := grid.NewField(grid.Shape{D: 1, H: 3, W: 3}, grid.Uint8, make([]byte, 9), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	for first := range 3 {
		said := 0
		job, err := viewer{mute{bench.Asking(func(grid.Source) (VCEC, error) { return VCEC{{0, 1}}, nil }), first, &said}, viewed{Periodic: grid.Axes{X: true}}}.Setup(f, bench.Conditions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Do(nil); err != nil {
			t.Fatal(err)
		}
		if _, err := job.Out(); (err == nil) != (first == 2) {
			t.Errorf("view %d of 2 is mute: %v", first, err)
		}
	}
}

// A mute implementation has one job that cannot say what it counted.
type mute struct {
	bench.Implementation[grid.Source, VCEC]
	at   int
	said *int
}

type muteJob struct {
	bench.Job[VCEC]
	mute
}

func (m mute) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	job, err := m.Implementation.Setup(in, c)
	return muteJob{job, m}, err
}

func (j muteJob) Out() (VCEC, error) {
	if *j.said++; *j.said-1 == j.at {
		return nil, errors.New("it is mute")
	}
	return j.Job.Out()
}

// An implementation is asked whether it can do an image with voxels left out where it knows of
// these, one on the host of the whole and one on a device of a piece.
func TestWhatIsAskedOfImplementations(t *testing.T) {
	f, err := grid.NewField(grid.Shape{D: 40, H: 3, W: 3}, grid.Uint8, make([]byte, 360), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	plain := bench.Asking(func(grid.Source) (VCEC, error) { return nil, nil })
	for _, c := range []struct {
		impl   bench.Implementation[grid.Source, VCEC]
		masked bool
		want   bool
	}{{plain, false, true}, {plain, true, false}, {gappedSummer{summer{plain, grid.Whole}}, true, true}} {
		if err := (viewer{c.impl, viewed{Masked: c.masked}}).CanDo(f, bench.Conditions{}); (err == nil) != c.want {
			t.Errorf("%T, left out %v: %v", c.impl, c.masked, err)
		}
	}
	for where, want := range map[string]int64{"cpu": 40, "gpu": 6} {
		asked := int64(0)
		s := summer{sized{plain, where, &asked}, func(grid.Source) grid.Span { return grid.Span{Lo: 3, Hi: 8} }}
		if err := s.CanDo(f, bench.Conditions{}); err != nil || asked != want {
			t.Errorf("on a %s: asked of %d slices, want %d (%v)", where, asked, want, err)
		}
	}
}

type sized struct {
	bench.Implementation[grid.Source, VCEC]
	where string
	asked *int64
}

func (a sized) About() bench.About { return bench.About{Where: a.where} }

func (a sized) CanDo(in grid.Source, _ bench.Conditions) error {
	*a.asked = in.Shape().Slices()
	return nil
}

// What cannot be read has no values on levels, nor does what is on none; float32 values are moved to
// theirs.
func TestOnLevels(t *testing.T) {
	l, err := grid.Affine(0, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ    grid.Type
		values []float32
		want   []float32 // nil where the law does not apply
	}{
		{grid.Float32, []float32{-5, 0, 0.5, 4}, []float32{0, 0, 2, 4}}, {grid.Uint8, []float32{0, 2, 4, 4}, []float32{0, 2, 4, 4}}, {grid.Uint8, []float32{0, 1, 2, 4}, nil},
		{grid.Int16, []float32{0, 2, 4, 2}, []float32{0, 2, 4, 2}}, {grid.Int16, []float32{-1, 2, 4, 2}, nil}, {grid.Uint16, []float32{4, 2, 0, 2}, []float32{4, 2, 0, 2}}, {grid.Uint16, []float32{4, 2, 3, 2}, nil},
	} {
		data := grid.NewBuffer(4 * c.typ.Size())
		for i, v := range c.values {
			switch c.typ {
			case grid.Uint8:
				data[i] = uint8(v)
			case grid.Int16:
				grid.Values[int16](data)[i] = int16(v)
			case grid.Uint16:
				grid.Values[uint16](data)[i] = uint16(v)
			default:
				grid.Values[float32](data)[i] = v
			}
		}
		f, err := grid.NewField(grid.Shape{D: 1, H: 2, W: 2}, c.typ, data, l)
		if err != nil {
			t.Fatal(err)
		}
		in, err := OnLevels(f)
		if c.want == nil {
			if !errors.Is(err, verify.ErrNotApplicable) {
				t.Errorf("%v: %v", c.values, err)
			}
			continue
		}
		if err != nil || !slices.Equal(in.(*grid.Field).Floats(), c.want) {
			t.Errorf("%v %v: %v, want %v (%v)", c.typ, c.values, in, c.want, err)
		}
		if _, err := OnLevels(grids.Unread{Source: f}); !errors.Is(err, grids.ErrUnread) {
			t.Errorf("of what cannot be read: %v", err)
		}
	}
}

// A remiss adder forgets nothing where it begins, or adds all pieces once, or the first one always.
type remiss struct {
	bench.Implementation[grid.Source, VCEC]
	fault string
}

type remissJob struct {
	*sumJob
	fault string
	in    grid.Source
	said  *int
}

func (r remiss) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	job, err := r.Implementation.Setup(in, c)
	if err != nil {
		return nil, err
	}
	first, err := grid.Load(in) // which is overwritten
	return remissJob{job.(*sumJob), r.fault, first, new(int)}, err
}

func (j remissJob) Begin() {
	if j.fault != "remembers" || *j.said == 0 {
		j.sumJob.Begin()
	}
}

func (j remissJob) Add(in grid.Source, times int64) error {
	*j.said++
	switch {
	case j.fault == "once":
		times = 1
	case j.fault == "first":
		in = j.in
	case j.fault == "fails" && *j.said == 3:
		return errors.New("it fails")
	}
	return j.sumJob.Add(in, times)
}

// Who adds up pieces by one job is asked to, and found out; who does not is not asked.
func TestAddersAreAsked(t *testing.T) {
	for _, name := range []string{"noise/shape=7x9x13/type=uint8/levels=9/seed=1", "noise/shape=9x13/type=float32/levels=70000/seed=1", "noise/shape=9x1/type=uint8/seed=1"} {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		counts := bench.Asking(func(in grid.Source) (VCEC, error) {
			f, err := grid.Load(in)
			if err != nil {
				return nil, err
			}
			return Enumerate(f), nil
		})
		adds := summing(counts, grid.Whole)
		for _, c := range []struct {
			what string
			impl bench.Implementation[grid.Source, VCEC]
			want string
		}{
			{"one that counts images whole", counts, "not applicable"}, {"one that adds up", adds, "right"},
			{"one that remembers", remiss{adds, "remembers"}, "wrong"},
			{"one that adds what it should take off", remiss{adds, "once"}, "wrong"}, {"one that adds the first", remiss{adds, "first"}, "wrong"},
			{"one that fails", remiss{adds, "fails"}, "it fails"},
		} {
			if _, ok := c.impl.(remiss); ok && f.Shape().Slices() < 3 {
				continue // there is one piece
			}
			d, err := addedUp(f, Enumerate(f), func(in grid.Source) (VCEC, error) { return bench.Answer(c.impl, in, bench.Conditions{}) })
			got := map[bool]string{true: "right", false: "wrong"}[d == nil]
			if errors.Is(err, verify.ErrNotApplicable) {
				got = "not applicable"
			} else if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s, %s: %s (%v), want %s", name, c.what, got, d, c.want)
			}
		}
	}
}

// Who answers about an image whatever cannot be read of it is found out, by whichever slice; who
// says no more than that it failed is not asked further.
func TestUnreadImagesHaveNoAnswer(t *testing.T) {
	in, err := datasets.Open("noise/shape=5x4x7/type=uint8/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	other := errors.New("it is too large")
	for _, c := range []struct {
		reads []int64 // slices
		fail  error   // of what cannot be read; nil for that it cannot
		want  string  // that it answers without, or "other"
	}{
		{[]int64{0, 1, 2, 3, 4, 5, 6}, nil, ""}, {[]int64{1, 3, 6}, nil, "0"}, {[]int64{0, 6}, nil, "3"}, {[]int64{0, 3}, nil, "6"}, {[]int64{0, 3, 6}, other, "other"},
	} {
		d, err := unanswered(in, nil, func(in grid.Source) (VCEC, error) {
			slice := make([]byte, 20)
			for _, z := range c.reads {
				if err := in.ReadSlab(slice, z, z+1); err != nil && c.fail != nil {
					return nil, c.fail
				} else if err != nil {
					return nil, err
				}
			}
			return VCEC{{0, 1}}, nil
		})
		got := ""
		if d != nil {
			got = strings.TrimPrefix(d.Where, "without slice ")
		}
		if errors.Is(err, other) {
			got, err = "other", nil
		}
		if got != c.want || err != nil {
			t.Errorf("%+v: %q (%v)", c, got, err)
		}
	}
}

// All cells are listed of small images, none of whose voxels are above all levels.
func TestEnumeratedImages(t *testing.T) {
	for name, want := range map[string]string{
		"noise/shape=16x16x8/type=uint8/levels=3": "", "noise/shape=4097x1/type=uint8/levels=3": "not applicable", "noise/shape=3x3/type=float32/levels=200000": "not applicable",
		"noise/shape=5x4/type=float32/levels=4": "not applicable", // with the voxel that is made so below
	} {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		if f.Shape().W == 5 {
			grid.Values[float32](f.Data())[7] = 99
		}
		said := ""
		if d, err := enumerated(f, VCEC{{0, 1}}, nil); errors.Is(err, verify.ErrNotApplicable) {
			said = "not applicable"
		} else if d == nil || err != nil {
			t.Errorf("%s: a wrong answer: %v, %v", name, d, err)
		} else if d, err := enumerated(f, Enumerate(f), nil); d != nil || err != nil {
			t.Errorf("%s: the right answer: %v, %v", name, d, err)
		}
		if said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
}

// A joiner counts a piece without what it shares, or forgets to, or fails.
type joiner struct {
	bench.Implementation[grid.Source, VCEC]
	fault string
}

type joinJob struct {
	*sumJob
	fault string
}

func (j joiner) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	job, err := j.Implementation.Setup(in, c)
	if err != nil {
		return nil, err
	}
	return joinJob{job.(*sumJob), j.fault}, nil
}

func (j joinJob) AddJoined(p grid.Piece) error {
	if j.fault == "fails" && p.Shared != nil {
		return errors.New("it fails")
	}
	if err := j.Add(p.Field, p.Times); err != nil || p.Shared == nil || j.fault == "forgets" {
		return err
	}
	return j.Add(p.Shared, -p.Times)
}

// Who joins pieces is asked to, and found out; who does not is not asked, nor about a 2D image.
func TestJoinersAreAsked(t *testing.T) {
	for _, name := range []string{"noise/shape=7x9x13/type=uint8/levels=9/seed=1", "noise/shape=9x13/type=uint8/seed=1"} {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(in)
		if err != nil {
			t.Fatal(err)
		}
		adds := summing(bench.Asking(func(in grid.Source) (VCEC, error) {
			f, err := grid.Load(in)
			if err != nil {
				return nil, err
			}
			return Enumerate(f), nil
		}), grid.Whole)
		for _, c := range []struct {
			what string
			impl bench.Implementation[grid.Source, VCEC]
			want string
		}{
			{"one that adds up alone", adds, "not applicable"}, {"one that joins", joiner{adds, ""}, "right"},
			{"one that counts what is shared twice", joiner{adds, "forgets"}, "wrong"}, {"one that fails", joiner{adds, "fails"}, "it fails"},
		} {
			asked := 0
			d, err := joinedUp(f, Enumerate(f), func(in grid.Source) (VCEC, error) {
				asked++
				return bench.Answer(c.impl, in, bench.Conditions{})
			})
			got := map[bool]string{true: "right", false: "wrong"}[d == nil]
			if errors.Is(err, verify.ErrNotApplicable) {
				got = "not applicable"
			} else if err != nil {
				got = err.Error()
			}
			if f.Shape().Dim() == 2 {
				if got != "not applicable" || asked > 0 {
					t.Errorf("%s, %s: %s, asked %d times", name, c.what, got, asked)
				}
				continue
			}
			if got != c.want || asked != 1 {
				t.Errorf("%s, %s: %s (%v), want %s", name, c.what, got, d, c.want)
			}
		}
	}
}
