package library

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/datasets/element"
	"eccbench/impls/cpu"
	"eccbench/impls/extrema"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

func request() Request {
	return Request{Type: "uint8", Images: 1, Options: ask.Options{Construction: "T"}, Threads: 2, Verify: true}
}

// rows returns the levels of an answer, as float32, and χ.
func rows(t *testing.T, a Answer) (levels []float32, chi []int64) {
	t.Helper()
	b := grid.NewBuffer(4 * a.Rows)
	chi = make([]int64, a.Rows)
	if err := a.Fill(b, chi); err != nil {
		t.Fatal(err)
	}
	return grid.Values[float32](b), chi
}

// Images in memory of all kinds, in every convention, against the definition.
func TestImages(t *testing.T) {
	for i, shape := range [][]int64{{7}, {1, 1}, {5, 6}, {3, 4, 5}, {1, 4, 5}} {
		s, err := grid.ShapeOf(shape)
		if err != nil {
			t.Fatal(err)
		}
		for _, typ := range grid.Types() {
			const images = 3
			all := grid.NewBuffer(images * s.Voxels() * typ.Size())
			rng := rand.New(rand.NewPCG(uint64(i), uint64(typ)))
			var fields []*grid.Field
			for k := range images {
				f := gridtest.Drawn(t, s, typ, 9, rng.Uint64())
				copy(all[k*len(all)/images:], f.Data())
				if f, err = element.Voxels(t.Context(), 2, s, typ.String(), f.Data(), 0); err != nil {
					t.Fatal(err)
				}
				fields = append(fields, f)
			}
			for _, c := range ecctest.Conventions() {
				r := request()
				r.Shape, r.Type, r.Images, r.Superlevel = shape, typ.String(), images, c.Superlevel
				if c.Vertices {
					r.Construction = "V"
				}
				for axis := range c.Periodic.Each() {
					r.Periodic = append(r.Periodic, string(axis))
				}
				if c.Periodic.Check(s) != nil {
					if _, err := Answers(t.Context(), r, all, nil); err == nil {
						t.Errorf("%v has axes %s", shape, c.Periodic)
					}
					continue
				}
				before := bytes.Clone(all)
				answers, err := Answers(t.Context(), r, all, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(before, all) {
					t.Fatal("the voxels were written to")
				}
				for k, a := range answers {
					small := onFewLevels(t, fields[k])
					want := ecc.LinesOf(small, ecctest.EnumerateIn(small, c), c, false)
					var levels []float32
					var chi []int64
					want.Each(func(l ecc.Line) { levels, chi = append(levels, l.Level), append(chi, l.Chi) })
					gotLevels, gotChi := rows(t, a)
					if !slices.Equal(gotLevels, levels) || !slices.Equal(gotChi, chi) {
						t.Errorf("%v %v %+v image %d: %v %v, want %v %v", shape, typ, c, k, gotLevels, gotChi, levels, chi)
					}
					if a.Verdict != "VERIFIED" || !strings.HasPrefix(a.Witness, "fingerprint (key ") || a.Implementation != "extrema" {
						t.Errorf("%+v", a)
					}
				}
			}
		}
	}
}

// onFewLevels returns a float32 image on the table of its values, and other images unchanged.
func onFewLevels(t *testing.T, f *grid.Field) *grid.Field {
	t.Helper()
	if f.Type() != grid.Float32 {
		return f
	}
	values := slices.Clone(f.Floats())
	slices.Sort(values)
	table, err := grid.Table(slices.Compact(values))
	if err != nil {
		t.Fatal(err)
	}
	small, err := grid.NewField(f.Shape(), f.Type(), bytes.Clone(f.Data()), table)
	if err != nil {
		t.Fatal(err)
	}
	return small
}

// A file has the answer of the same voxels in memory. NaN is reported with its number.
func TestInputs(t *testing.T) {
	r := request()
	r.Type, r.Input = "", "noise/shape=9x8x7/type=int16/levels=30/seed=4"
	answers, err := Answers(t.Context(), r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, whole := ecctest.Open(t, r.Input)
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, whole.Data(), 0o666); err != nil {
		t.Fatal(err)
	}
	r.Input, r.Shape, r.Type = path, []int64{7, 8, 9}, "int16"
	of, err := Answers(t.Context(), r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	levels, chi := rows(t, answers[0])
	ofLevels, ofChi := rows(t, of[0])
	values := map[float32]bool{}
	for _, v := range ofLevels {
		values[v] = true
	}
	if len(chi) < 10 || !slices.Equal(chi, ofChi) || len(values) != len(levels) {
		t.Errorf("%v of the input, %v of the file", chi, ofChi)
	}
	r.Describe = true
	if of, err = Answers(t.Context(), r, nil, nil); err != nil || !slices.Equal(of[0].Shape, r.Shape) || of[0].Type != "int16" || of[0].Rows != 0 {
		t.Errorf("%+v, %v", of, err)
	}
	r.Describe, r.Type = false, "float32"
	nan := slices.Repeat([]byte{0xff}, 4*7*8*9)
	if err := os.WriteFile(path, nan, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Answers(t.Context(), r, nil, nil); err == nil || !strings.Contains(err.Error(), "504 values are NaN") {
		t.Errorf("%v", err)
	}
}

func TestEvenLevels(t *testing.T) {
	r := request()
	r.Shape, r.Type, r.Levels = []int64{1, 4}, "float32", 5
	answers, err := Answers(t.Context(), r, grid.Bytes([]float32{0, 3, 1, 4}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if levels, chi := rows(t, answers[0]); fmt.Sprint(levels, chi) != "[0 1 2 3 4] [1 2 2 1 1]" {
		t.Errorf("%v %v", levels, chi)
	}
}

func TestRefused(t *testing.T) {
	for want, change := range map[string]func(*Request){
		`construction U: want T or V`: func(r *Request) { r.Construction = "U" },
		"threads 0: want 1 to 4096":   func(r *Request) { r.Threads = 0 },
		"threads 4097":                func(r *Request) { r.Threads = 4097 },
		"4 axes":                      func(r *Request) { r.Shape = []int64{1, 1, 2, 2} },
		"every axis":                  func(r *Request) { r.Shape = []int64{0, 2} },
		"3 images in 4 bytes":         func(r *Request) { r.Images = 3 },
		`type "int8"`:                 func(r *Request) { r.Type = "int8" },
		"image 0: 2x1 uint8: 1":       func(r *Request) { r.Images, r.Shape = 4, []int64{1, 2} },
		"no such file":                func(r *Request) { r.Input = "/nowhere/a.npy" },
		"is a directory":              func(r *Request) { r.Input = "/" },
		"unknown key":                 func(r *Request) { r.Input, r.Shape, r.Type = "noise/of=4", nil, "" },
		"specifies its own":           func(r *Request) { r.Input = "noise/shape=4x4" },
		`axis "u"`:                    func(r *Request) { r.Periodic = []string{"u"} },
		"no axis z":                   func(r *Request) { r.Periodic = []string{"z"} },
		"sublevel sets in the T":      func(r *Request) { r.Levels, r.Superlevel = 5, true },
	} {
		r := request()
		r.Shape = []int64{2, 2}
		change(&r)
		if _, err := Answers(t.Context(), r, make([]byte, 4), nil); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

// A wrong curve is not returned.
func TestWrong(t *testing.T) {
	r := request()
	r.by = []bench.Implementation[grid.Source, ecc.VCEC]{cpu.Faulty(cpu.HaloOffByOne)}
	_, f := ecctest.Open(t, "noise/shape=30x30x30/type=uint8/seed=1")
	a, err := r.answer(t.Context(), f)
	if !errors.As(err, new(ask.VerdictError)) || a.Rows != 0 || !strings.Contains(err.Error(), "if another thread wrote to the array meanwhile") {
		t.Errorf("%+v, %v", a, err)
	}
	r.Verify = false
	if a, err := r.answer(t.Context(), f); err != nil || a.Verdict != "UNVERIFIED" || a.Witness != "" {
		t.Errorf("%+v, %v", a, err)
	}
}

// breaking panics in every read.
type breaking struct{ grid.Source }

func (breaking) ReadSlab([]byte, int64, int64) error { panic("out of reach") }

// A panic in any goroutine of an answer becomes its error.
func TestFault(t *testing.T) {
	_, f := ecctest.Open(t, "noise/shape=30x30x30/type=uint8/seed=1")
	for what, ask := range map[string]func() (Answer, error){
		"read": func() (Answer, error) { return request().answer(t.Context(), breaking{f}) },
		"counted": func() (Answer, error) {
			c := bench.Conditions{Setting: bench.Setting{Threads: 2}}
			out, err := bench.Answer(Implementations()[0], grid.Source(breaking{f}), c)
			return Answer{Rows: int64(len(out))}, err
		},
	} {
		if _, err := Caught(ask); !errors.As(err, new(Fault)) || !strings.Contains(err.Error(), "internal error: out of reach") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Betti numbers at every level and at some values equal those by flood fill, for images in memory
// of all types, in every convention. The voxels stay unchanged.
func TestBetti(t *testing.T) {
	conventions := []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}}
	for i, shape := range [][]int64{{7}, {5, 6}, {3, 4, 5}, {13, 11, 12}} {
		s, err := grid.ShapeOf(shape)
		if err != nil {
			t.Fatal(err)
		}
		for _, typ := range grid.Types() {
			f := gridtest.Drawn(t, s, typ, 9, uint64(3*i))
			before := bytes.Clone(f.Data())
			for _, c := range conventions {
				r := request()
				r.Shape, r.Type, r.Superlevel, r.Betti = shape, typ.String(), c.Superlevel, true
				if c.Vertices {
					r.Construction = "V"
				}
				all, err := Answers(t.Context(), r, f.Data(), nil)
				if err != nil {
					t.Fatal(err)
				}
				levels, numbers := grid.NewBuffer(4*all[0].Rows), make([]int64, all[0].Numbers())
				if err := all[0].Fill(levels, numbers); err != nil {
					t.Fatal(err)
				}
				values := grid.Values[float32](levels)
				for k := range min(3, len(values)) {
					r.At = append(r.At, grid.Numbers(float64(values[k*len(values)/3]))...)
				}
				at, err := Answers(t.Context(), r, f.Data(), nil)
				if err != nil {
					t.Fatal(err)
				}
				ofLevels, some := grid.NewBuffer(8*at[0].Rows), make([]int64, at[0].Numbers())
				if err := at[0].Fill(ofLevels, some); err != nil {
					t.Fatal(err)
				}
				for k := range r.At {
					row := k * len(values) / 3
					if want := numbers[3*row : 3*row+3]; !slices.Equal(some[3*k:3*k+3], want) {
						t.Errorf("%v %v %+v at %v: %v, at every level %v", shape, typ, c, r.At[k], some[3*k:3*k+3], want)
					}
				}
				if all[0].Verdict != "VERIFIED" || !strings.HasPrefix(all[0].Witness, "unions of all voxels") || at[0].Witness != "flood fill" || at[0].Levels != "<f8" {
					t.Errorf("%+v %+v", all[0], at[0])
				}
			}
			if !bytes.Equal(before, f.Data()) {
				t.Fatal("the voxels were written to")
			}
		}
	}
}

// Betti numbers of a batch within a mask equal the numbers of images with a greater value outside.
func TestMaskedBetti(t *testing.T) {
	s := grid.Shape{D: 4, H: 5, W: 6}
	f, m := gridtest.Drawn(t, s, grid.Uint8, 5, 1), gridtest.Drawn(t, s, grid.Uint8, 2, 2)
	voxels, mask := bytes.Repeat(f.Data(), 2), append(bytes.Repeat([]byte{7}, len(m.Data())), m.Data()...)
	replaced := bytes.Clone(voxels)
	for i, v := range mask {
		if v == 0 {
			replaced[i] = 255
		}
	}
	r := request()
	r.Shape, r.Images, r.Betti = []int64{4, 5, 6}, 2, true
	for _, at := range [][]grid.Number{nil, grid.Numbers(1, 2.5)} {
		r.At = at
		got, err := Answers(t.Context(), r, voxels, mask)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Answers(t.Context(), r, replaced, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			a, b := make([]int64, got[i].Numbers()), make([]int64, want[i].Numbers())
			if err := errors.Join(got[i].Fill(make([]byte, got[i].Rows*levelBytes(got[i])), a), want[i].Fill(make([]byte, want[i].Rows*levelBytes(want[i])), b)); err != nil {
				t.Fatal(err)
			}
			if b = b[:min(len(a), len(b))]; !slices.Equal(a, b) || len(a) == 0 || got[i].Verdict != "VERIFIED" {
				t.Errorf("image %d at %v: %v, with another value outside %v", i, at, a, b)
			}
		}
	}
}

// levelBytes returns the size of a level of an answer in bytes.
func levelBytes(a Answer) int64 {
	if a.Levels == "<f4" {
		return 4
	}
	return 8
}

// A cancelled job ends early, and an ended job is unknown.
func TestJobs(t *testing.T) {
	var jobs Jobs
	r := request()
	r.Type, r.Input = "", "noise/shape=4096x4096x4096/type=uint8/seed=1" // many minutes
	ask := func(ctx context.Context) ([]Answer, error) { return Answers(ctx, r, nil, nil) }
	if err := jobs.Start(1, Effort{}, ask); err != nil {
		t.Fatal(err)
	}
	if err := jobs.Start(1, Effort{}, ask); err == nil {
		t.Error("a number is taken twice")
	}
	if jobs.Wait(1, time.Millisecond) {
		t.Error("it is over at once")
	}
	jobs.Cancel(1)
	if _, err := jobs.Answers(1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if !jobs.Wait(1, 0) || !jobs.Wait(2, 0) {
		t.Error("a job that is over is not, or one that there is not")
	}
	jobs.End(1)
	if _, err := jobs.Answers(1); !errors.Is(err, errNoJob) {
		t.Errorf("%v", err)
	}
}

// A brief job is over when it has started, even if it panics. No long request is brief.
func TestBriefJobs(t *testing.T) {
	var jobs Jobs
	for id, ask := range []func(context.Context) ([]Answer, error){
		func(context.Context) ([]Answer, error) { return []Answer{{Rows: 7}}, nil },
		func(context.Context) ([]Answer, error) { panic("broken") },
	} {
		if err := jobs.Start(uint64(id), Effort{Brief: true}, ask); err != nil || !jobs.Wait(uint64(id), 0) {
			t.Errorf("job %d: %v, or it is not over", id, err)
		}
	}
	if answers, err := jobs.Answers(0); err != nil || answers[0].Rows != 7 {
		t.Errorf("%v, %v", answers, err)
	}
	if _, err := jobs.Answers(1); !errors.As(err, new(Fault)) {
		t.Errorf("%v", err)
	}
	for what, change := range map[string]func(*Request){
		"nothing": func(*Request) {}, "a file": func(r *Request) { r.Input = "x.npy" }, "Betti numbers": func(r *Request) { r.Betti = true }, "a part": func(r *Request) { r.Part = &Part{} },
		"parts": func(r *Request) { r.Join = &Join{} }, "a flow": func(r *Request) { r.Flow = &ask.FlowOptions{} }, "a graph": func(r *Request) { r.Eigenmap = &ask.EigenmapOptions{} },
	} {
		r := request()
		change(&r)
		if brief := r.Effort(1<<20, false).Brief; brief != (what == "nothing") {
			t.Errorf("%s: brief %v", what, brief)
		}
		if r.Effort(1<<20, true).Bounded || r.Effort(1<<20+1, false).Brief {
			t.Errorf("%s: a masked image is bounded, or a large one brief", what)
		}
	}
}

// Jobs that need a limit leave Go the sum of the threads of all running jobs, until the last of them is over.
func TestThreadsOfJobs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(9))
	var jobs Jobs
	next := uint64(0)
	during := map[uint64]chan struct{}{} // closed to end a job
	begin := func(e Effort) (id uint64) {
		id, next = next, next+1
		begun, end := make(chan struct{}), make(chan struct{})
		during[id] = end
		answer := func(context.Context) ([]Answer, error) {
			close(begun)
			<-end
			if id == 2 {
				panic("broken")
			}
			return nil, nil
		}
		go func() {
			if err := jobs.Start(id, e, answer); err != nil {
				t.Error(err)
			}
		}()
		<-begun
		return id
	}
	want := func(n int, when string) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != n {
			t.Errorf("%s: %d cores, want %d", when, got, n)
		}
	}
	end := func(id uint64) {
		close(during[id])
		jobs.Answers(id) // waits
	}
	bounded := begin(Effort{Threads: 1, Bounded: true})
	want(9, "a bounded job")
	one := begin(Effort{Threads: 1})
	want(2, "a job of 1 with a bounded one")
	three := begin(Effort{Threads: 3})
	want(5, "jobs of 1 and 3 with a bounded one")
	end(bounded)
	want(4, "jobs of 1 and 3")
	soft := begin(Effort{Threads: 2, Bounded: true})
	want(6, "jobs of 1 and 3 with a bounded one of 2")
	most := begin(Effort{Threads: 1 << 40})
	want(9, "a job of more threads than cores")
	end(one)
	end(most)
	want(5, "a job of 3 with a bounded one of 2")
	end(three)
	want(9, "a bounded job")
	end(soft)
	none := begin(Effort{Threads: -1})
	want(1, "an invalid job")
	end(none)
	want(9, "no job")
}

// A bounded request on one thread starts no goroutine, whatever its images are.
func TestBoundedRequests(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	created := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which starts goroutines
	voxels := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(voxels)
	for i := 3; i < len(voxels); i += 4 {
		voxels[i] = 0x40 // no float32 or float64 is infinite
	}
	for typ, size := range map[string]int64{"uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "float32": 4, "float64": 8} {
		for what, change := range map[string]func(*Request){
			"levels": func(*Request) {}, "the V-construction": func(r *Request) { r.Construction = "V" },
			"values": func(r *Request) { r.Sets = []json.Number{"1", "2"} }, "a batch": func(r *Request) { r.Images = 4 },
			"even levels": func(r *Request) { r.Levels = 5000 }, "a mask": func(r *Request) { r.NaN = ask.NaNMask },
		} {
			r := request()
			r.Type, r.Images, r.Verify, r.Threads = typ, 1, true, 1
			change(&r)
			if r.Levels > 0 && typ != "float32" {
				continue
			}
			r.Shape = []int64{64, int64(len(voxels)/r.Images) / 64 / size}
			if e := r.Effort(len(voxels), false); !e.Bounded {
				if what != "a mask" {
					t.Errorf("%s, %s: not bounded", typ, what)
				}
				continue
			}
			metrics.Read(created)
			before := created[0].Value.Uint64()
			if _, err := Answers(t.Context(), r, voxels, nil); err != nil {
				t.Errorf("%s, %s: %v", typ, what, err)
			}
			metrics.Read(created)
			if n := created[0].Value.Uint64() - before; n > 0 {
				t.Errorf("%s, %s: %d goroutines", typ, what, n)
			}
		}
	}
}

// Voxels outside the mask count as outside the image.
func TestMask(t *testing.T) {
	r := request()
	r.Shape, r.Images = []int64{1, 3}, 2
	answers, err := Answers(t.Context(), r, []byte{7, 5, 7, 1, 2, 3}, []byte{1, 0, 1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[7] [2]", "[1] [1]"} {
		if levels, chi := rows(t, answers[i]); fmt.Sprint(levels, chi) != want || answers[i].Verdict != "VERIFIED" {
			t.Errorf("image %d: %v %v, want %s", i, levels, chi, want)
		}
	}
	if _, err := Answers(t.Context(), r, make([]byte, 6), make([]byte, 3)); err == nil || !strings.Contains(err.Error(), "a mask of 3 bytes") {
		t.Errorf("%v", err)
	}
}

// Curves by a guessed range equal those by the searched range. The guess may be wrong: a value is
// beyond it, in any place, or between levels. Non-finite values are reported with their place.
func TestGuess(t *testing.T) {
	shape := grid.Shape{D: 17, H: 250, W: 250}
	values := make([]float32, shape.Voxels())
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range values {
		values[i] = float32(rng.IntN(300))
	}
	last := len(values) - 1
	for _, c := range []struct {
		at    int
		value float32
	}{{0, 0}, {5, float32(math.Copysign(0, -1))}, {5, 17.5}, {77777, 299.5}, {0, 300}, {last, 300}, {500000, -1}, {last, -0.5}, {250*250 - 1, 1e9}, {600000, float32(math.NaN())}, {last, float32(math.Inf(1))}} {
		kept := values[c.at]
		values[c.at] = c.value
		for _, levels := range []int64{0, 1, 2, 300, 77} {
			r := request()
			r.Type, r.Shape, r.Levels = "float32", []int64{shape.D, shape.H, shape.W}, levels
			answers, err := Answers(t.Context(), r, grid.Bytes(values), nil)
			image, wrong := element.Voxels(t.Context(), 1, shape, r.Type, grid.Bytes(values), levels)
			if wrong != nil {
				if err == nil || err.Error() != wrong.Error() {
					t.Errorf("%v, %d levels: %v, want %v", c, levels, err, wrong)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%v, %d levels: %v", c, levels, err)
			}
			out, err := bench.Answer(extrema.Implementation{}, grid.Source(image), bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
			if err != nil {
				t.Fatal(err)
			}
			want := Answer{Levels: "<f4", lines: curveLines{ecc.LinesOf(image, out, ecc.Convention{}, levels > 0)}}
			want.Rows = want.lines.(curveLines).Len()
			gotLevels, gotChi := rows(t, answers[0])
			wantLevels, wantChi := rows(t, want)
			if !slices.Equal(gotLevels, wantLevels) || !slices.Equal(gotChi, wantChi) || answers[0].Verdict != "VERIFIED" {
				t.Errorf("%v, %d levels: %s, %d rows, want %d, or others", c, levels, answers[0].Verdict, len(gotLevels), len(wantLevels))
			}
		}
		values[c.at] = kept
	}
}
