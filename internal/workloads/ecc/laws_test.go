package ecc

import (
	"errors"
	"slices"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
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

// A law that takes a wrong answer for right is found, and a fingerprint that names another level
// or another change than the one that is wrong.
func TestBlindLaws(t *testing.T) {
	in, err := datasets.Open("noise/shape=9x9/type=float32/levels=9")
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	out := Enumerate(f)
	says := func(name string, d *verify.Diff) []law {
		return []law{{Name: name, Check: func(grid.Source, VCEC, ask) (*verify.Diff, error) { return d, nil }}}
	}
	middle := out[len(out)/2]
	right := atLevel(f, middle.Level, "a change of %+d", middle.Change, middle.Change+1)
	for i, c := range []struct {
		laws []law
		want bool // that an error is found
	}{
		{says("blind", nil), false}, {says("seeing", &verify.Diff{}), true}, {says(FingerprintLaw, &verify.Diff{Where: FingerprintLaw}), true}, {says(FingerprintLaw, right), true},
		{says(FingerprintLaw, nil), false}, {says(FingerprintLaw, &verify.Diff{Where: "level 1", Want: right.Want, Got: right.Got}), false},
		{says(FingerprintLaw, &verify.Diff{Where: right.Where, Want: right.Got, Got: right.Got}), false}, {says(FingerprintLaw, &verify.Diff{Where: right.Where, Want: right.Want}), false},
	} {
		d, err := noticing(c.laws, fingerprint.Draw(1)).Check(f, out, nil)
		if err != nil || (d == nil) != c.want {
			t.Errorf("case %d: %v (%v)", i, d, err)
		}
	}
	if _, err := noticing(nil, fingerprint.Draw(1)).Check(f, nil, nil); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("of no steps: %v", err)
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

// readings counts the slices that are read of an image.
type readings struct {
	grid.Source
	slices *int64
}

func (r readings) ReadSlab(dst []byte, lo, hi int64) error {
	*r.slices += hi - lo
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
