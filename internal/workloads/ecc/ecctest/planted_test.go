package ecctest

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc"
)

// An enumerator answers by enumeration, with a defect or none.
type enumerator struct {
	defect string
	cache  map[string]ecc.VCEC
}

func (enumerator) About() bench.About {
	return bench.About{Name: "enumerator", Where: "cpu", Scopes: []bench.Scope{bench.E2E, bench.File}}
}

func (enumerator) CanDo(in grid.Source, _ bench.Conditions) error { return in.Ladder().CheckIndexed() }

func (e enumerator) Setup(in grid.Source, _ bench.Conditions) (bench.Job[ecc.VCEC], error) {
	return &enumeration{enumerator: e, in: in}, nil
}

type enumeration struct {
	enumerator
	in   grid.Source
	kept ecc.VCEC
	out  ecc.VCEC
}

func (e *enumeration) Do(*bench.Trace) error {
	key := e.in.Shape().String() + e.in.Type().String() + e.in.Ladder().Key()
	switch {
	case e.defect == "remembers" && e.kept != nil:
		e.out = e.kept
		return nil
	case e.defect == "remembers what looks alike" && e.cache[key] != nil:
		e.out = e.cache[key]
		return nil
	case e.defect == "reads, and remembers" && e.kept != nil:
		_, err := grid.Load(e.in)
		e.out = e.kept
		return err
	}
	in := e.in
	if n := in.Shape().Slices(); e.defect == "deep" && n > 300 {
		in = views.Crop(in, 0, 300)
	}
	f, err := grid.Load(in)
	if err != nil {
		return err
	}
	e.out = ecc.Enumerate(f)
	if e.defect == "levels" {
		sums := map[int64]int64{}
		for _, s := range e.out {
			sums[s.Level%65536] += s.Change
		}
		e.out = nil
		for level := range int64(65536) {
			if sums[level] != 0 {
				e.out = append(e.out, ecc.Step{Level: level, Change: sums[level]})
			}
		}
	}
	if d := f.Data(); e.defect == "vandal" && f == e.in && f.Type() == grid.Uint8 {
		d[0], d[len(d)-1] = d[len(d)-1], d[0]
	}
	e.kept, e.cache[key] = e.out, e.out
	return nil
}

func (e *enumeration) Poison() { e.out = ecc.VCEC{{Level: 0, Change: bench.Poison}} }

func (e *enumeration) Out() (ecc.VCEC, error) { return e.out, nil }

func (e *enumeration) Close() error { return nil }

// The suite catches the known kinds of defects: an answer from memory, levels beyond 65,536, slices
// beyond 300, and writes to the input.
func TestSuiteCatches(t *testing.T) {
	for _, defect := range []string{"remembers", "remembers what looks alike", "reads, and remembers", "deep", "levels", "vandal"} {
		t.Run(defect, func(t *testing.T) {
			if defect == "levels" && race.Enabled {
				t.Skip("the suite leaves out images of many levels under the race detector")
			}
			Catches(t, enumerator{defect, map[string]ecc.VCEC{}})
		})
	}
}

// The enumerator without a defect is right.
func TestSuiteAcceptsTheEnumeration(t *testing.T) {
	for _, c := range Cases(t)[:30] {
		for _, w := range ways() {
			if err := conforms(enumerator{"", map[string]ecc.VCEC{}}, c, w, c.want()); err != nil {
				t.Errorf("%s, %s: %v", c.Name, w.name, err)
			}
		}
	}
}
