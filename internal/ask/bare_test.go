package ask

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/impls/betti/duality"
	curves "eccbench/impls/betticurves/duality"
	"eccbench/impls/cpu"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// wideFiles returns raw images of the types that are ranked, by type. Float64 has NaN too if gaps is set.
func wideFiles(t *testing.T, gaps bool) map[string]string {
	random, dir := rand.New(rand.NewPCG(3, 4)), t.TempDir()
	files := map[string]string{}
	write := func(typ string, b []byte) {
		path := filepath.Join(dir, typ)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		files[typ] = fmt.Sprintf("file/shape=6x5x4/type=%s/path=%s", typ, path)
	}
	floats := make([]float64, 120)
	special := []float64{0, math.Copysign(0, -1), 0.1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1 << 53, -1}
	if gaps {
		special = append(special, math.NaN())
	}
	for i := range floats {
		if floats[i] = random.NormFloat64(); i%3 == 0 {
			floats[i] = special[random.IntN(len(special))]
		}
	}
	write("float64", grid.Bytes(floats))
	if !gaps {
		write("int64", wholes[int64](random, math.MinInt64, -1<<53-1, -1, 0, 1<<53+1, 1<<62+1, math.MaxInt64))
		write("uint64", wholes[uint64](random, 0, 1, 1<<53+1, 1<<63+1, math.MaxUint64))
		write("int32", wholes[int32](random, math.MinInt32, -1, 0, 1<<24+1, math.MaxInt32))
		write("uint32", wholes[uint32](random, 0, 1, 1<<24+1, math.MaxUint32))
	}
	return files
}

func wholes[T int32 | uint32 | int64 | uint64](random *rand.Rand, special ...T) []byte {
	values := make([]T, 120)
	for i := range values {
		if values[i] = T(random.Uint64()); i%2 == 0 {
			values[i] = special[random.IntN(len(special))]
		}
	}
	return grid.Bytes(values)
}

// Answers at few values, bare or not, equal those by the ranks of all values, which a mask needs, in every type and
// convention.
func TestBare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mask")
	if err := os.WriteFile(path, bytes.Repeat([]byte{1}, 120), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := datasets.ParseName("file/shape=6x5x4/type=uint8/path=" + path)
	if err != nil {
		t.Fatal(err)
	}
	var at []grid.Number
	for _, text := range strings.Fields("-1 -0.5 0 0.1 inf -inf 1e300 67108863 16777217 9007199254740993 9223372036854775807 " +
		"9223372036854775808 18446744073709551614 -9007199254740992.5 2147483646.5 0") {
		n, err := grid.ParseNumber(text)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, n)
	}
	plain, gaps := wideFiles(t, false), wideFiles(t, true)
	for i := range 1 << 6 {
		o, inputs, levels := Options{Construction: "TV"[i&1 : i&1+1], Superlevel: i&2 > 0}, plain, int64(7*(i>>2&1))
		if i&8 > 0 {
			o.NaN, inputs = NaNMask, gaps
		}
		for typ, input := range inputs {
			q := of(input, o)
			q.Levels, q.Slices = levels, i&16 > 0
			if i&32 > 0 && !q.Slices {
				q.Periodic = []string{"x"}
			}
			if i%5 == 1 { // masked voxels do not count
				q.Mask, _ = datasets.ParseName(plain["int64"])
			}
			label := fmt.Sprintf("%s, %+v, %d levels", typ, o, levels)
			c := curveOf(q, extrema.Implementation{})
			c.By.Policy = ecc.Policy()
			b := Betti{Question: q, By: betti.Workload(duality.Implementation{}),
				Curves: betti.CurvesWorkload(curves.Implementation{Counter: extrema.Implementation{}})}
			if levels == 0 {
				c.At, b.At = at, at
			}
			sameCurves(t, label, c, all, at)
			sameBetti(t, label, b, all)
		}
	}
}

// Evenly spaced levels are those of the values within the mask.
func TestBareMaskedEnds(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("file/shape=3x2x1/type=%s/path=%s", name, path)
	}
	q := of(write("float64", grid.Bytes([]float64{-1e300, 0.1, 0.2, 0.5, 0.7, 1e300})), Options{Construction: "T"})
	q.Mask, _ = datasets.ParseName(write("uint8", []byte{0, 1, 1, 1, 1, 0}))
	q.Levels = 4
	c := curveOf(q, extrema.Implementation{})
	c.By.Policy = ecc.Policy()
	sameCurves(t, "masked ends", c, q.Mask, nil)
	sameBetti(t, "masked ends", Betti{Question: q, By: betti.Workload(duality.Implementation{}),
		Curves: betti.CurvesWorkload(curves.Implementation{Counter: extrema.Implementation{}})}, q.Mask)
}

// each answers a question with a mask if it has none, as it is, and bare. It checks the digests.
func each[A any](t *testing.T, label string, q *Question, all datasets.Name, answer func() (A, error), of func(A) ecc.Provenance) (
	want A, got [2]A) {
	answered := func() A {
		a, err := answer()
		if err != nil {
			t.Fatal(label, err)
		}
		return a
	}
	mask := q.Mask
	if mask.IsZero() {
		q.Mask = all
	}
	want = answered()
	q.Mask = mask
	for i := range got {
		q.Bare = i > 0
		got[i] = answered()
		p, w := of(got[i]), of(want)
		if isShort := strings.HasPrefix(p.Digest, "sha256:"); p.Type != w.Type || (p.Digest == "") != q.Bare ||
			isShort != (mask.IsZero() && !q.Bare) || len(w.Digest) != 32 {
			t.Errorf("%s, bare %t: %+v, want %+v", label, q.Bare, p, w)
		}
	}
	return want, got
}

func sameCurves(t *testing.T, label string, q Curve, all datasets.Name, at []grid.Number) {
	want, both := each(t, label, &q.Question, all, q.Answer, func(a CurveAnswer) ecc.Provenance { return a.Provenance })
	for _, got := range both {
		sameLines(t, label, q, want, got, at)
	}
}

func sameLines(t *testing.T, label string, q Curve, want, got CurveAnswer, at []grid.Number) {
	for k, lines := range append(slices.Clone(want.Slices), want.Lines) {
		few := append(slices.Clone(got.Slices), got.Lines)[k]
		if lines.Labels == nil { // of no image
			continue
		}
		if q.Levels == 0 && len(got.Provenance.Digest) != 32 && few.Labels.Len() > len(at)+1 {
			t.Errorf("%s: %v of %d thresholds", label, few.Labels, len(at))
		}
		for _, value := range at {
			if a, b := lines.At(value), few.At(value); a != b {
				t.Fatalf("%s, curve %d: χ at %v is %d, want %d", label, k, value, b, a)
			}
		}
		if q.Levels > 0 && !slices.Equal(textOf(lines), textOf(few)) {
			t.Errorf("%s: levels %v, want %v", label, textOf(few), textOf(lines))
		}
	}
}

func textOf(l ecc.Lines) (rows []string) {
	l.Each(func(x ecc.Line) { rows = append(rows, fmt.Sprintf("%s %d", l.Labels.Append(nil, x.Level), x.Chi)) })
	return rows
}

func sameBetti(t *testing.T, label string, q Betti, all datasets.Name) {
	want, both := each(t, label, &q.Question, all, q.Answer, func(a BettiAnswer) ecc.Provenance { return a.Provenance })
	text := func(a BettiAnswer) string {
		rows := fmt.Sprint(a.Numbers, a.SliceNumbers)
		for _, l := range append(a.SliceLines, a.Lines) {
			l.Each(func(level float32, n betti.Numbers) { rows += fmt.Sprintf(" %s %v", l.Labels.Append(nil, level), n) })
		}
		return rows
	}
	for _, got := range both {
		if text(got) != text(want) {
			t.Errorf("%s: %s %+v\nwant %s %+v", label, text(got), got.Provenance, text(want), want.Provenance)
		}
	}
}

// Answers at few values reject values that are not finite, and impossible levels, with the same error.
func TestBareRejects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "near.raw")
	if err := os.WriteFile(path, grid.Bytes([]int64{1<<62 + 1, 1<<62 + 2, 1<<62 + 3, 1<<62 + 4}), 0o600); err != nil {
		t.Fatal(err)
	}
	near := of("file/shape=2x2/type=int64/path="+path, Options{Construction: "T"})
	near.Levels = 9
	nan := of(wideFiles(t, true)["float64"], Options{Construction: "T"})
	for _, q := range []Question{near, nan} {
		for _, impl := range []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}, cpu.Implementation{}} {
			c := curveOf(q, impl)
			c.Impl, c.By.Policy = impl.About().Name, ecc.Policy()
			if q.Levels == 0 {
				c.At = grid.Numbers(0)
			}
			all := c
			all.Input = c.Input.With("roll", "1") // whose values are all ranked
			_, want := all.Answer()
			for _, c.Bare = range []bool{false, true} {
				if _, err := c.Answer(); want == nil || err == nil || err.Error() != want.Error() {
					t.Errorf("bare %t: %v, want %v", c.Bare, err, want)
				}
			}
		}
	}
}
