package ask

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/impls/betti/duality"
	"eccbench/impls/extrema"
	boundary "eccbench/impls/homology/duality"
	"eccbench/impls/homology/reduced"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/homology"
)

// silent ignores all progress, and counts openings.
type silent struct{ opened *int }

func (s silent) Waiting(string) func() {
	if s.opened != nil {
		*s.opened++
	}
	return func() {}
}

func (silent) Reading(s grid.Source, _ int64) (grid.Source, func()) { return s, func() {} }
func (silent) ShowMemory(string, int64, int64)                      {}
func (silent) Takes(string, time.Duration)                          {}
func (silent) Missing(_ string, s grid.Source) string               { return grid.Missing(s) }

// of returns a question about an input string.
func of(input string, o Options) Question {
	name, _ := datasets.ParseName(input) // the tests of complexes have none
	return Question{
		Options: o, Shown: input, Input: name, Named: func(name string) string { return name }, Threads: 2,
		Budget: math.MaxInt64, Follow: silent{},
	}
}

// raw writes the voxels of an image of 4×4 to a raw file, and returns its name.
func raw(t *testing.T, typ string, voxels []byte) string {
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, voxels, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file/shape=4x4/type=" + typ + "/path=" + path
}

func curveOf(q Question, by bench.Implementation[grid.Source, ecc.VCEC]) Curve {
	return Curve{Question: q, By: bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{by}}}
}

const noise = "noise/shape=9x8x7/type=uint8/levels=5/seed=3"

// χ at some values is that of the curve at all levels. Of an image on every float32, only the sets
// at these values are counted.
func TestCurveAt(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	inf, negativeZero := float32(math.Inf(1)), float32(math.Copysign(0, -1))
	write := func(name string, special ...float32) string {
		var b []byte
		for range 11 * 10 * 9 {
			v := float32(random.NormFloat64())
			if i := random.IntN(3 * len(special)); i < len(special) {
				v = special[i]
			}
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return "file/shape=9x10x11/type=float32/levels=every/path=" + name
	}
	const most = math.MaxFloat32
	finite := []float32{0, negativeZero, most, -most, math.SmallestNonzeroFloat32, 0.5, -1, 1 << 24}
	plain := write("finite", finite...)
	gaps := strings.Replace(write("gaps", append(finite, float32(math.NaN()))...), "/path=", "/nan=mask/path=", 1)
	var few, many []grid.Number
	for _, text := range strings.Fields("0.1 0.1 0.10000000149011612 -1 inf -inf 1e300 -1e39 0 -0 1e-50 0.5 16777217") {
		n, err := grid.ParseNumber(text)
		if err != nil {
			t.Fatal(err)
		}
		few = append(few, n)
	}
	for i := range betti.MostSets + 1 {
		many = append(many, grid.Numbers(float64(i)/100-1)...)
	}
	for i := range 64 {
		o := Options{Construction: "TV"[i&1 : i&1+1], Superlevel: i&2 > 0}
		if i&4 > 0 {
			o.Periodic = []string{"x", "y"}
		}
		input := plain
		if i&8 > 0 {
			input, o.NaN = gaps, NaNMask
		}
		at := [][]grid.Number{few, few[:1], many[1:], many}[i>>4]
		q := curveOf(of(input, o), extrema.Implementation{})
		q.By.Policy, q.Slices = ecc.Policy(), i%3 == 0
		want, err := q.Answer()
		if err != nil {
			t.Fatal(err)
		}
		q.At = at
		got, err := q.Answer()
		if err != nil {
			t.Fatal(err)
		}
		wanted, lines := append(want.Slices, want.Lines), append(got.Slices, got.Lines)
		if sampled := lines[0].Ladder.Len() <= betti.MostSets; sampled != (len(at) <= betti.MostSets) {
			t.Errorf("%d values: a curve of %d levels", len(at), lines[0].Ladder.Len())
		}
		if got.Provenance.Digest != want.Provenance.Digest || len(lines) != len(wanted) {
			t.Errorf("%+v: %d curves of %+v", o, len(lines), got.Provenance)
		}
		for k := range wanted {
			for _, value := range at {
				if a, b := wanted[k].At(value), lines[k].At(value); a != b {
					t.Fatalf("%+v, %d values, curve %d: χ at %v is %d, want %d", o, len(at), k, value, b, a)
				}
			}
		}
	}
	for _, bad := range []float32{inf, -inf, float32(math.NaN())} {
		q := curveOf(of(write("bad", bad), Options{Construction: "T"}), extrema.Implementation{})
		_, want := q.Answer()
		q.At = few
		if _, err := q.Answer(); want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// A voxel in a wrong set is a wrong answer.
func TestWrongRanks(t *testing.T) {
	q := curveOf(of(noise, Options{Construction: "T"}), misranking{})
	if _, err := q.Answer(); !errors.As(err, new(VerdictError)) {
		t.Error(err)
	}
}

type misranking struct{ extrema.Implementation }

func (misranking) Setup(grid.Source, bench.Conditions) (bench.Job[ecc.VCEC], error) {
	return nil, grid.ErrRanks
}

// A plan starts with an opening that reads once on every level, and falls back if no implementation
// accepts it.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		impl string
		all  bool
		want Opening
	}{
		{"", false, Opening{Every: true, Once: true}},
		{"", true, Opening{Once: true}},
		{"cpu", false, Opening{}},
	} {
		opened := 0
		q := curveOf(of(noise, Options{Construction: "T"}), extrema.Implementation{})
		q.Impl, q.All, q.Follow = c.impl, c.all, silent{&opened}
		p, err := q.plan()
		if err != nil {
			t.Fatal(err)
		}
		if err := grid.Close(p.Source); err != nil {
			t.Error(err)
		}
		if opened != 1 || p.opening != c.want {
			t.Errorf("%+v: opened %d times, as %+v", c, opened, p.opening)
		}
	}
	opened := 0
	q := curveOf(of(noise, Options{Construction: "T"}), extrema.Implementation{})
	q.By.Impls, q.Follow = nil, silent{&opened}
	if p, err := q.plan(); err == nil || opened != 2 || p.opening.Every {
		t.Errorf("nobody takes an image that was opened %d times, as %+v (%v)", opened, p.opening, err)
	}
}

// NaN of files are masked. The integers of a stack have none.
func TestMaskedNaN(t *testing.T) {
	for name, want := range map[string]string{"file/path=a.npy": "mask", "stack/path=a": "", "noise/shape=2x2": ""} {
		n, err := datasets.ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := (Opening{Gaps: true}).Of(n).Get("nan"); got != want {
			t.Errorf("%s: nan=%s, want %s", name, got, want)
		}
	}
}

// Levels that need more memory than is free are an input error, before anything is counted.
func TestLevelsOfLittleMemory(t *testing.T) {
	in := of("noise/shape=9x8x7/type=float32/levels=1000", Options{Construction: "T"})
	q := curveOf(in, extrema.Implementation{})
	q.All = true
	for free, want := range map[int64]bool{0: true, 1 << 20: true, 1000*levelBytes - 1: false} {
		q.Memory = func() int64 { return free }
		if _, err := q.Answer(); (err == nil) != want || err != nil && !errors.As(err, new(UsageError)) {
			t.Errorf("%d bytes are free: %v", free, err)
		}
	}
}

// A liar returns the same Betti numbers for every set.
type liar struct{ duality.Implementation }

func (liar) About() bench.About { return bench.About{Name: "liar", Where: "cpu"} }

func (liar) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	return bench.FromFunc(func(*betti.Image) (betti.Numbers, error) { return betti.Numbers{B0: 1, B1: 7}, nil }).Setup(in, c)
}

// Curves and Betti numbers are confirmed, also of slices. A wrong answer is a VerdictError and is
// not returned.
func TestAnswers(t *testing.T) {
	o := Options{Construction: "V", Superlevel: true}
	curve := curveOf(of(noise, o), extrema.Implementation{})
	a, err := curve.Answer()
	if err != nil || a.Lines.Len() == 0 || a.Provenance.Verdict != "VERIFIED" || a.Provenance.Digest == "" {
		t.Fatalf("%+v (%v)", a.Provenance, err)
	}
	curve.Slices = true
	if a, err := curve.Answer(); err != nil || len(a.Slices) != 7 {
		t.Errorf("%d slices (%v)", len(a.Slices), err)
	}
	b := Betti{Question: of(noise, o), At: grid.Numbers(2), By: betti.Workload(duality.Implementation{})}
	n, err := b.Answer()
	if err != nil || len(n.Numbers) != 1 {
		t.Fatalf("%+v (%v)", n, err)
	}
	b.By, b.Impl = betti.Workload(liar{}), "liar"
	if _, err := b.Answer(); !errors.As(err, new(VerdictError)) {
		t.Errorf("a wrong answer: %v", err)
	}
	b.Question, b.At = of(raw(t, "float32", make([]byte, 64)), o), nil
	b.Options.Periodic = []string{"x"}
	if n, err := b.Answer(); err != nil || n.Lines.Len() == 0 || n.Provenance.Implementation != "rings" {
		t.Errorf("every level of a ring: %+v (%v)", n.Provenance, err)
	}
}

// Only float32 images can have NaN masked.
func TestGapsOfIntegers(t *testing.T) {
	name := raw(t, "uint8", []byte("aababbabcabacbab"))
	curve := curveOf(of(name, Options{Construction: "V", NaN: NaNMask}), extrema.Implementation{})
	a, err := curve.Answer()
	if err != nil || !strings.Contains(a.Name, "/nan=mask/") || a.Lines.In.Masked {
		t.Errorf("%s in %+v (%v)", a.Name, a.Lines.In, err)
	}
}

// First applies all laws if it verifies, alternative ones only until a law confirms, and none otherwise.
func TestFirst(t *testing.T) {
	none := bench.FromFunc(func(int) (int, error) { return 0, bench.Refuse(errors.New("too small")) })
	one := bench.FromFunc(func(int) (int, error) { return 1, nil })
	law := verify.Law[int, int]{Name: "odd", Independent: true, Check: func(_, out int, _ verify.Ask[int, int]) (*verify.Diff, error) {
		if out%2 == 0 {
			return &verify.Diff{Where: "it", Want: "odd", Got: "even"}, nil
		}
		return nil, nil
	}}
	w := bench.Workload[int, int]{Impls: []bench.Implementation[int, int]{none, one}, Policy: verify.Policy[int, int]{Laws: []verify.Law[int, int]{law}}}
	if a, verdict, err := First(w, 3, bench.Conditions{}, true); err != nil || a.Out != 1 || verdict != verify.Verified || a.Evidence != "odd" {
		t.Errorf("%+v %v (%v)", a, verdict, err)
	}
	tried := 0
	other := verify.Law[int, int]{Name: "other", Independent: true, Alternative: true, Check: func(int, int, verify.Ask[int, int]) (*verify.Diff, error) {
		tried++
		return nil, nil
	}}
	silent := verify.Law[int, int]{Name: "silent", Independent: true, Check: func(int, int, verify.Ask[int, int]) (*verify.Diff, error) {
		return nil, verify.Undecided("by chance")
	}}
	for first, want := range map[*verify.Law[int, int]]string{&law: "odd", &silent: "other"} {
		tried, w.Policy.Laws = 0, []verify.Law[int, int]{*first, other}
		a, verdict, err := First(w, 3, bench.Conditions{}, true)
		if err != nil || verdict != verify.Verified || a.Evidence != want || (tried > 0) != (want == "other") {
			t.Errorf("an alternative, tried %d times after %s: %+v %v (%v)", tried, first.Name, a, verdict, err)
		}
	}
	w.Policy.Laws = []verify.Law[int, int]{law}
	w.Impls[1] = bench.FromFunc(func(int) (int, error) { return 2, nil })
	if _, _, err := First(w, 3, bench.Conditions{}, true); !errors.As(err, new(VerdictError)) {
		t.Errorf("an even answer: %v", err)
	}
	if a, verdict, err := First(w, 3, bench.Conditions{}, false); err != nil || a.Out != 2 || verdict != verify.Unverified {
		t.Errorf("%+v %v (%v)", a, verdict, err)
	}
	w.Policy.Laws = nil
	if _, _, err := First(w, 3, bench.Conditions{}, true); err == nil {
		t.Error("no law confirms an answer that is verified")
	}
	w.Impls = w.Impls[:1]
	if _, _, err := First(w, 3, bench.Conditions{}, true); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("nobody answers: %v", err)
	}
}

// A question without an affordable witness is not computed.
func TestUnaffordable(t *testing.T) {
	answered := 0
	one := bench.FromFunc(func(int) (int, error) { answered++; return 1, nil })
	law := func(hours time.Duration, bytes int64) verify.Law[int, int] {
		return verify.Law[int, int]{
			Name: "any", Independent: true,
			Work:   func(int) time.Duration { return hours * time.Hour },
			Memory: func(int) int64 { return bytes },
			Check:  func(int, int, verify.Ask[int, int]) (*verify.Diff, error) { return nil, nil },
		}
	}
	ask := func(laws ...verify.Law[int, int]) error {
		w := bench.Workload[int, int]{Impls: []bench.Implementation[int, int]{one}}
		w.Policy.Laws = laws
		limits := Limits{Budget: time.Hour, Free: func() int64 { return 100 }}
		_, err := Answer(w, one.About().Name, "3", 3, bench.Conditions{}, limits, "number")
		return err
	}
	for _, laws := range [][]verify.Law[int, int]{{law(2, 1)}, {law(1, 101)}, {law(2, 1), law(1, 101)},
		{law(0, 1), law(2, 1)}} { // a law without work does not apply
		var v VerdictError
		if err := ask(laws...); !errors.As(err, &v) || v.Status != verify.Unverified || answered > 0 {
			t.Errorf("%d laws: %v, answered %d times", len(laws), err, answered)
		}
	}
	if err := ask(law(2, 1), law(1, 100)); err != nil || answered != 1 {
		t.Errorf("a law that fits: %v, answered %d times", err, answered)
	}
}

// The files of a question are those of the disk: to list an array's on a server is to read its metadata.
func TestFilesAreLocal(t *testing.T) {
	q := Question{Input: datasets.FileName("s3://bucket/scan.zarr"), Mask: datasets.FileName("mask.npy")}
	if got := q.Files(); !slices.Equal(got, []string{"mask.npy"}) {
		t.Errorf("files %q, want the mask", got)
	}
}

// A mesh whose boundary is no surface is answered by the next implementation, unless one is requested or there is no
// other.
func TestHomologyOfNoSurface(t *testing.T) {
	touching := &simplicial.Complex{Vertices: 7, Points: []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1}}
	touching.Add(0, 1, 2, 3)
	touching.Add(0, 4, 5, 6)
	q := Homology{Question: of("mesh", Options{}), Complex: touching, By: homology.Workload(boundary.Implementation{}, reduced.Implementation{})}
	if _, a, err := q.Answer(); err != nil || a.By != "reduced" || a.Out.Betti[0] != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	touches := func(what string) {
		if _, _, err := q.Answer(); err == nil || !strings.Contains(err.Error(), "touch at vertex 0 alone") {
			t.Errorf("%s: %v", what, err)
		}
	}
	q.By = homology.Workload(boundary.Implementation{})
	touches("without another implementation")
	q.Impl = "duality"
	touches("by duality")
}
