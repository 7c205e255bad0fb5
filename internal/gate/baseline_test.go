package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// stored measures a base and reads it back as from a file.
func stored(t *testing.T, of []Cell) *Baseline {
	t.Helper()
	r := run(t, &world{noise: 0.01}, 5, of, func(g *Gate) { g.Alone = true })
	if r.Verdict != Stored || len(r.Processes) != 4*10*len(of) || r.Cells[0].Decision != Measured {
		t.Fatalf("%s: %s, %d processes", r.Verdict, r.Reason, len(r.Processes))
	}
	data, err := json.Marshal(r.Baseline())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadBaseline(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBaseline(t *testing.T) {
	of := cells(2, 0.05)
	for slow, want := range map[float64]Verdict{0: Pass, 0.2: IsRegression} {
		b := stored(t, of)
		r := run(t, &world{noise: 0.01, slow: map[Side]float64{Candidate: slow}}, 6, of, func(g *Gate) { g.Baseline = b })
		if r.Verdict != want || r.Stored == nil || r.Base.SHA256 != "of the base" || r.Candidate.SHA256 != "of the candidate" {
			t.Errorf("slower by %g: %s: %s, base %+v", slow, r.Verdict, r.Reason, r.Base)
		}
	}
	b := stored(t, of)
	r := run(t, &world{noise: 0.01, alter: func(_ Side, c *bench.CellRecord) { c.Digests = []string{"2"} }}, 6, of, func(g *Gate) { g.Baseline = b })
	if r.Verdict != IsWrong {
		t.Errorf("another answer than the stored base's: %s", r.Verdict)
	}
	// Today's noise is measured although no base runs today.
	r = run(t, &world{noise: 0.2}, 6, of, func(g *Gate) { g.Baseline = b })
	if r.Verdict != IsInconclusive || !strings.Contains(r.Reason, "too noisy") {
		t.Errorf("a noisy day: %s: %s", r.Verdict, r.Reason)
	}
}

// A baseline fits its machine, protocol and cells only.
func TestBaselineFits(t *testing.T) {
	of := cells(2, 0.05)
	b := stored(t, of)
	m := bench.Machine{CPU: "a CPU", Host: "any", Devices: []string{"told by the records"}}
	if err := b.Fits(m, Protocol{Blocks: 10}, cells(2, 0.03)); err != nil {
		t.Errorf("another effect: %v", err)
	}
	for want, err := range map[string]error{
		"machine: CPU a CPU against another": b.Fits(bench.Machine{CPU: "another"}, Protocol{Blocks: 10}, of),
		"protocol: ":                         b.Fits(m, Protocol{Blocks: 11}, of),
		"cells: ":                            b.Fits(m, Protocol{Blocks: 10}, cells(3, 0.05)),
	} {
		if !errors.As(err, &ErrIncompatible{}) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	w := &world{noise: 0.01, rng: rand.New(rand.NewPCG(1, 1)), alter: func(_ Side, c *bench.CellRecord) { c.Device = "another card" }}
	g := &Gate{Protocol: Protocol{Blocks: 10}, Cells: of, Measure: w.measure, Baseline: b}
	if _, err := g.Run(context.Background()); !errors.As(err, &ErrIncompatible{}) {
		t.Errorf("another device: %v", err)
	}
	for _, text := range []string{"", "{}", `{"schema":"eccbench/gate-baseline/1"}`, "[1]"} {
		if _, err := ReadBaseline(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a baseline", text)
		}
	}
}

// Every result keeps the schema, and the schema is not vacuous.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("gate-1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(r *Result) error {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	whole := func(slow float64, status verify.Status, change func(*Gate)) *Result {
		w := &world{noise: 0.01, slow: map[Side]float64{Candidate: slow}, alter: func(s Side, c *bench.CellRecord) {
			if s == Candidate && status != verify.Verified {
				c.Verdict = verify.Verdict{Status: status, Reason: "level 3", Reproduce: "again"}
			}
		}}
		r := run(t, w, 2, cells(2, 0.05), change)
		r.Protocol.Threads, r.Protocol.MaxTime, r.Protocol.MaxSamples, r.Protocol.TimeLimit = 1, 1, 1, 1
		return r
	}
	for _, slow := range []float64{0, 0.05, 0.3, -0.3} {
		if err := check(whole(slow, verify.Verified, nil)); err != nil {
			t.Error(err)
		}
	}
	for status, want := range map[verify.Status]Verdict{verify.Wrong: IsWrong, verify.Crashed: IsFailed} {
		if r := whole(0, status, nil); r.Verdict != want || check(r) != nil {
			t.Errorf("%s: %s, %v", status, r.Verdict, check(r))
		}
	}
	b := stored(t, cells(2, 0.05))
	for want, change := range map[Verdict]func(*Gate){
		Stored: func(g *Gate) { g.Alone = true }, Pass: func(g *Gate) { g.Baseline = b },
	} {
		if r := whole(0, verify.Verified, change); r.Verdict != want || check(r) != nil {
			t.Errorf("want %s: %s, %v", want, r.Verdict, check(r))
		}
	}
	for name, spoil := range map[string]func(*Result){
		"a flag seen once":   func(r *Result) { r.Cells[0].Second = nil },
		"no such verdict":    func(r *Result) { r.Verdict = "GOOD" },
		"no reason":          func(r *Result) { r.Reason = "" },
		"no estimate":        func(r *Result) { r.Cells[0].Change = nil },
		"failed without why": func(r *Result) { r.Cells[0].Decision = Failed },
		"no protocol":        func(r *Result) { r.Protocol = Protocol{} },
	} {
		r := whole(0.3, verify.Verified, nil)
		spoil(r)
		if check(r) == nil {
			t.Errorf("%s keeps the schema", name)
		}
	}
}

// A baseline with the old spelling of parameters has the current cells.
func TestOldBaseline(t *testing.T) {
	const old, now = "gvf/steps=9/mu=50/boundary=0/of=x", "gvf/steps=9/mu=0.05/boundary=0/of=x"
	cell := Stretch{Cell: Cell{Input: old}, Digests: map[string]string{old: "d"}}
	text, err := json.Marshal(Baseline{Schema: BaselineSchema, Cells: []Stretch{cell}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadBaseline(bytes.NewReader(text))
	if err != nil || b.Cells[0].Input != now || b.Cells[0].Digests[now] != "d" {
		t.Errorf("%+v, %v", b, err)
	}
}

// A stored baseline leaves out the processes that were run again.
func TestBaselineWithoutRepeatedProcesses(t *testing.T) {
	of := cells(1, 0.05)
	r := &Result{Cells: []CellResult{{Cell: of[0]}}, Processes: []Process{
		{Round: 1, Side: Base, Repeated: true, Quick: 1}, {Round: 1, Side: Base, Quick: 2}, {Round: 1, Side: Again, Quick: 3},
	}}
	b := r.Baseline()
	if list := b.Cells[0].Processes; len(list) != 2 || list[0].Quick != 2 || list[1].Quick != 3 {
		t.Errorf("%+v", list)
	}
}
