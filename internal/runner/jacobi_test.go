//go:build unix

package runner

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// A third workload has answers in floats within limits, with several outputs and a parameter. It
// runs n steps of Jacobi's method for −u″ = f on a line. The outputs are u and the change of the
// last step. An input is named "line/steps=N/n=N/seed=S".
type line struct {
	steps int
	f     []float64
}

type field struct {
	u      []float32
	change float32 // the largest in the last step
}

type lines struct{}

func (lines) Open(name string) (in line, err error) {
	var n, seed int
	if _, err := fmt.Sscanf(name, "line/steps=%d/n=%d/seed=%d", &in.steps, &n, &seed); err != nil {
		return in, fmt.Errorf("line %q: want line/steps=N/n=N/seed=S", name)
	}
	for i := range n {
		in.f = append(in.f, math.Sin(float64((i+1)*seed)))
	}
	return in, nil
}

func (lines) Variants(name string, k int) ([]string, error) {
	head, _, _ := strings.Cut(name, "/seed=")
	var names []string
	for i := range k {
		names = append(names, fmt.Sprintf("%s/seed=%d", head, i+1))
	}
	return names, nil
}

func (lines) Smaller(string) []string { return nil }

func (lines) Cost(_ string, in line) bench.Cost {
	return bench.Cost{Items: int64(len(in.f) * in.steps), Unit: "vox·it", Bytes: 8 * int64(len(in.f)), Class: "gen=line", Size: fmt.Sprint(len(in.f))}
}

func (lines) Size(in line) int64 { return 8 + 8*int64(len(in.f)) }

func (lines) Share(in line, f *os.File) error {
	if err := binary.Write(f, binary.LittleEndian, int64(in.steps)); err != nil {
		return err
	}
	return binary.Write(f, binary.LittleEndian, in.f)
}

func (lines) Attach(b []byte) (line, error) {
	in := line{steps: int(binary.LittleEndian.Uint64(b)), f: make([]float64, len(b)/8-1)}
	return in, binary.Read(bytes.NewReader(b[8:]), binary.LittleEndian, in.f)
}

// solve computes the definition in float64.
func solve(in line) (u []float64, change float64) {
	u, next := make([]float64, len(in.f)), make([]float64, len(in.f))
	for range in.steps {
		change = 0
		for i := range u {
			left, right := 0.0, 0.0
			if i > 0 {
				left = u[i-1]
			}
			if i+1 < len(u) {
				right = u[i+1]
			}
			next[i] = (left + right + in.f[i]) / 2
			change = max(change, math.Abs(next[i]-u[i]))
		}
		u, next = next, u
	}
	return u, change
}

// A relaxer answers in float32. spoil modifies an answer, depending on the number of the call.
type relaxer struct {
	name  string
	spoil func(call int, out *field)
}

func (r relaxer) About() bench.About {
	return bench.About{Name: r.name, Where: "cpu", Scopes: []bench.Scope{bench.E2E, bench.File}}
}
func (relaxer) CanDo(line, bench.Conditions) error { return nil }
func (r relaxer) Setup(in line, _ bench.Conditions) (bench.Job[field], error) {
	return &relaxing{relaxer: r, in: in}, nil
}

type relaxing struct {
	relaxer
	in    line
	calls int
	out   field // returned without a copy: the next call overwrites it
}

func (r *relaxing) Do(*bench.Trace) error {
	u, change := solve(r.in)
	if r.out.u == nil {
		r.out.u = make([]float32, len(u))
	}
	for i := range u {
		r.out.u[i] = float32(u[i])
	}
	r.out.change = float32(change)
	if r.spoil != nil {
		r.spoil(r.calls, &r.out)
	}
	r.calls++
	return nil
}

func (r *relaxing) Poison() {
	for i := range r.out.u {
		r.out.u[i] = 1e30
	}
}
func (r *relaxing) Out() (field, error) { return r.out, nil }
func (*relaxing) Close() error          { return nil }

// tolerance is the largest distance of a value from the definition's.
const tolerance = 1e-5

func jacobi(reference string, impls ...bench.Implementation[line, field]) Bench {
	return Bind(jacobiWorkload(reference, impls...))
}

// jacobiWorkload returns the workload of jacobi.
func jacobiWorkload(reference string, impls ...bench.Implementation[line, field]) bench.Workload[line, field] {
	distance := func(want []float64, change float64, got field) []verify.Measure {
		m := verify.Measure{Name: "largest error", Limit: tolerance}
		if len(want) != len(got.u) {
			m.Value = math.NaN()
		}
		for i := range min(len(want), len(got.u)) {
			if d := math.Abs(float64(got.u[i]) - want[i]); d > m.Value || math.IsNaN(d) {
				m.Value, m.At = d, fmt.Sprintf("place %d", i)
			}
		}
		return []verify.Measure{m, {Name: "error of the change", Value: math.Abs(float64(got.change) - change), Limit: tolerance}}
	}
	return bench.Workload[line, field]{
		Name: "jacobi", Inputs: lines{}, Reference: reference, Impls: impls,
		Policy: verify.Policy[line, field]{
			Distance: func(_ line, want, got field) []verify.Measure {
				var exact []float64
				for _, v := range want.u {
					exact = append(exact, float64(v))
				}
				return distance(exact, float64(want.change), got)
			},
			Laws: []verify.Law[line, field]{{
				Name: "the definition in float64", Independent: true,
				Measure: func(in line, out field, _ verify.Ask[line, field]) ([]verify.Measure, error) {
					u, change := solve(in)
					return distance(u, change, out), nil
				},
			}},
		},
		Encode: func(w io.Writer, a field) error {
			return binary.Write(w, binary.LittleEndian, append(slices.Clone(a.u), a.change))
		},
		Decode: func(b []byte) (field, error) {
			all := make([]float32, len(b)/4)
			err := binary.Read(bytes.NewReader(b), binary.LittleEndian, all)
			return field{all[:len(all)-1], all[len(all)-1]}, err
		},
	}
}

// spoilers returns implementations that are right, right within limits, and wrong.
func spoilers() []bench.Implementation[line, field] {
	return []bench.Implementation[line, field]{
		relaxer{name: "plain"},
		relaxer{name: "wavering", spoil: func(call int, out *field) { out.u[3] += float32(call%7) * 1e-7 }},
		// The error is nearly the limit, so it is no yardstick for an equal error in the other
		// direction.
		relaxer{name: "high", spoil: func(_ int, out *field) { out.u[3] += 8e-6 }},
		relaxer{name: "low", spoil: func(_ int, out *field) { out.u[3] -= 8e-6 }},
		// Four different right answers, and then wrong ones.
		relaxer{name: "late", spoil: func(call int, out *field) {
			if out.u[3] += float32(call%4+1) * 1e-7; call >= 4 {
				out.u[3] = 1e9
			}
		}},
		// Wrong by 1, 2, 4, 3, 2 and 1 in turn.
		relaxer{name: "worse", spoil: func(call int, out *field) {
			out.u[3] += []float32{1, 2, 4, 3, 2}[call%5]
		}},
		relaxer{name: "once", spoil: func(call int, out *field) {
			if call == 2 {
				out.u[5] += 1
			}
		}},
		relaxer{name: "nan", spoil: func(call int, out *field) {
			if call == 3 {
				out.change = float32(math.NaN())
			}
		}},
	}
}

// Every call's answer is judged independently of the earlier ones. The record has the worst one,
// and the number of calls beyond the limits.
func TestEveryCallIsJudged(t *testing.T) {
	for _, reference := range []string{"plain", ""} { // with a yardstick, and without
		w := jacobi(reference, spoilers()...)
		for impl, want := range map[string]struct {
			status verify.Status
			error  float64 // the largest
			said   string
		}{
			"plain":    {verify.Verified, 0, ""},
			"wavering": {verify.Verified, 6e-7, ""},
			"high":     {verify.Verified, 8e-6, ""},
			"low":      {verify.Verified, 8e-6, ""},
			"late":     {verify.Wrong, 1e9, "16 of 20 calls"},
			"worse":    {verify.Wrong, 4, "got 4 (20 of 20 calls"},
			"once":     {verify.Wrong, 1, "1 of 20 calls"},
			"nan":      {verify.Wrong, 0, "1 of 20 calls"},
		} {
			task := worker.Task{
				Workload: "jacobi", Impl: impl, Inputs: []string{"line/steps=50/n=40/seed=1"}, Budget: 1e10, Cores: 1,
				Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 1}}, Sampling: &worker.Sampling{MinSamples: 18, MaxSamples: 18, MaxTime: 1e12},
			}
			record, err := w.work(steady(), task, worker.Files{}, func(worker.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			if record.Status != want.status || want.status == verify.Verified && record.Reason != "" {
				t.Errorf("reference %q: %s is %s: %s", reference, impl, record.Status, record.Reason)
			}
			if record.Calls != 20 || !record.Tolerant { // the first call, 18 samples and a traced call
				t.Errorf("reference %q: %s: %d calls judged, want 20", reference, impl, record.Calls)
			}
			if reference != "" && impl != reference && !strings.Contains(record.Reason, want.said) {
				t.Errorf("%s: %q, want it to say %q", impl, record.Reason, want.said)
			}
			i := slices.IndexFunc(record.Measures, func(m verify.Measure) bool { return m.Name == "largest error" })
			if i < 0 || math.Abs(record.Measures[i].Value-want.error) > 0.2*want.error+2e-7 || record.Measures[i].Limit != tolerance {
				t.Errorf("reference %q: %s: measures %v, want an error of %g", reference, impl, record.Measures, want.error)
			}
		}
	}
}

// If answers must be equal, one different answer among many is an error, even if an implementation
// returns its own buffer.
func TestOneCallOfManyIsWrong(t *testing.T) {
	for impl, spoil := range map[string]func(int, *field){
		"right": nil,
		"once": func(call int, out *field) {
			if call == 2 {
				out.u[5]++
			}
		},
		"late": func(call int, out *field) {
			if call == 90 {
				out.u[5]++
			}
		},
	} {
		w := bench.Workload[line, field]{
			Name: "exact", Inputs: lines{}, Impls: []bench.Implementation[line, field]{relaxer{impl, spoil}},
			Policy: verify.Policy[line, field]{
				Agree: func(_ line, want, got field) *verify.Diff {
					if slices.Equal(want.u, got.u) {
						return nil
					}
					return &verify.Diff{Where: "u", Want: "the same", Got: "others"}
				},
				Laws: []verify.Law[line, field]{{Name: "there", Independent: true, Check: func(line, field, verify.Ask[line, field]) (*verify.Diff, error) { return nil, nil }}},
			},
			Encode: func(w io.Writer, a field) error { return binary.Write(w, binary.LittleEndian, a.u) },
			Decode: func(b []byte) (field, error) {
				u := make([]float32, len(b)/4)
				return field{u: u}, binary.Read(bytes.NewReader(b), binary.LittleEndian, u)
			},
		}
		task := worker.Task{
			Workload: "exact", Impl: impl, Inputs: []string{"line/steps=5/n=10/seed=1"}, Budget: 1e10, Cores: 1,
			Conditions: bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 1}}, Sampling: &worker.Sampling{MinSamples: 118, MaxSamples: 118, MaxTime: 1e12},
		}
		record, err := Bind(w).work(steady(), task, worker.Files{}, func(worker.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		if impl == "right" && (record.Status != verify.Verified || record.Differing != 0) {
			t.Errorf("right: %s: %s", record.Status, record.Reason)
		}
		said := map[string]string{"once": "call 3; 1 of 120 calls differ", "late": "call 91; 1 of 120 calls differ"}[impl]
		if impl != "right" && (record.Status != verify.Wrong || record.Differing != 1 || !strings.Contains(record.Reason, said)) {
			t.Errorf("%s: %s: %s", impl, record.Status, record.Reason)
		}
	}
}

// An answer accepted within limits is no witness of the next: two right answers may be on opposite
// sides of the definition.
func TestAcceptedAnswersAreNoYardstick(t *testing.T) {
	p := toyPlan(t, "high", "low")
	p.Benches, p.Workload, p.Inputs = append(toy(), jacobi("", spoilers()...)), "jacobi", []string{"line/steps=50/n=40/seed=1"}
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.cells {
		if c.Status != verify.Verified && c.Status != verify.Noisy {
			t.Errorf("%s: %s: %s", c.Impl, c.Status, c.Reason)
		}
		for _, e := range c.Evidence {
			if strings.HasPrefix(e.Witness, "agrees with") {
				t.Errorf("%s was held to an accepted answer: %s", c.Impl, e.Witness)
			}
		}
	}
	if len(got.cells) != 2 {
		t.Errorf("%d cells, want 2", len(got.cells))
	}
}
