//go:build unix

package runner

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// The forecast of a run follows from a worker's time for a small input: a millisecond for 1,000
// numbers here. Refused and finished cells take no time.
func TestForecast(t *testing.T) {
	p := toyPlan(t, "plain", "other", "shy", "pinned")
	p.Inputs = []string{"numbers/n=2000000/seed=1", "numbers/n=100000/seed=1", "numbers/n=1000/seed=1"}
	p.Done = func(k bench.CellKey) (bench.CellRecord, bool) {
		return bench.CellRecord{}, k.Impl == "other" && k.Input == p.Inputs[1]
	}
	f, err := p.Forecast(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	total := time.Duration(0)
	for impl, want := range map[string][3]time.Duration{
		// 3 calls to warm up and half of 30 to time; 3 as long as the sampling; 3 of two seconds.
		"plain": {starting + 3*ms + 15*ms, starting + 300*ms, starting + 6*time.Second},
		"other": {starting + 3*ms + 15*ms, 0, starting + 6*time.Second},
		"shy":   {},
		// On a device 3 warm up and 3 are timed.
		"pinned": {startingDevice + 3*ms + 15*ms, startingDevice + 300*ms + 300*ms, startingDevice + 6*time.Second},
	} {
		for i, input := range slices.Backward(p.Inputs) {
			i = len(p.Inputs) - 1 - i
			c := Cell{Workload: "sort", Impl: impl, Where: "cpu", Input: input}
			if impl == "pinned" {
				c.Where = "gpu"
			}
			got, ok := f[c]
			if !ok || got != want[i] {
				t.Errorf("%s on %s: %v, %v; want %v", impl, input, got, ok, want[i])
			}
			total += want[i]
		}
	}
	if len(f) != 12 || f.Total() != total {
		t.Errorf("%d cells take %v, want 12 and %v", len(f), f.Total(), total)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Forecast(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// An implementation whose estimate is much too long gets a larger input after it was fast on a
// small one. Otherwise it would seem slow, because every input takes a millisecond of this clock.
func TestForecastOfTheFearful(t *testing.T) {
	p := toyPlan(t, "fearful")
	p.Inputs = []string{"numbers/n=1000/seed=1"}
	f, err := p.Forecast(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	if got, want := f.Total(), starting+3*ms+15*ms; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// An empty input takes the time to start.
func TestForecastOfNothing(t *testing.T) {
	p := toyPlan(t, "plain")
	p.Inputs = []string{"numbers/n=0/seed=1"}
	if f, err := p.Forecast(context.Background()); err != nil || f.Total() != starting {
		t.Errorf("%v, %v; want %v", f.Total(), err, starting)
	}
}

// A missing input has no forecast.
func TestForecastOfWhatIsNotThere(t *testing.T) {
	for impl, input := range map[string]string{"plain": "letters/n=5", "nobody": "numbers/n=5/seed=1"} {
		p := toyPlan(t, impl)
		p.Inputs = []string{input}
		if f, err := p.Forecast(context.Background()); err == nil {
			t.Errorf("%s of %s takes %v", impl, input, f.Total())
		}
	}
}

// Checks take the time of the laws. For the first answer this is one independent law of each input.
// For the first input it includes the laws that fit into half of the measuring time.
func TestForecastOfChecks(t *testing.T) {
	w := sortWorkload()
	w.Policy.Laws = []verify.Law[[]uint32, []uint32]{
		{Name: "seldom", Independent: true, Work: func([]uint32) time.Duration { return time.Second }},
		{Name: "soon", Independent: true, Work: func([]uint32) time.Duration { return time.Millisecond }},
		{Name: "twice", Calls: 2},
	}
	p := toyPlan(t, "plain", "other")
	p.Benches = []Bench{Bind(w)}
	const ms = time.Millisecond
	for _, c := range []struct {
		sampling               *worker.Sampling
		measured, plain, other time.Duration
	}{
		// For 18 ms, 9 ms are for checks, which is too little for a law of a second.
		{p.Sampling, 18 * ms, 3*ms + 3*ms, 3 * ms},
		// One input, one call, and all laws.
		{nil, 1 * ms, 1*ms + 1003*ms, 1003 * ms},
	} {
		p.Sampling = c.sampling
		f, err := p.Forecast(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for impl, want := range map[string]time.Duration{"plain": c.plain, "other": c.other} {
			if got := f[Cell{Workload: "sort", Impl: impl, Where: "cpu", Input: p.Inputs[0]}]; got != starting+c.measured+want {
				t.Errorf("sampling %+v: %s takes %v, want %v", c.sampling, impl, got, starting+c.measured+want)
			}
		}
	}
}

// An estimating sorter estimates a millisecond for each number.
type estimating struct{ sorter }

func (estimating) CanDo(in []uint32, c bench.Conditions) error {
	return c.Allow(time.Duration(len(in))*time.Millisecond, "a millisecond a number")
}

// A quick input has its estimate, which is no pilot of others: they take their time in any order.
func TestForecastOfQuickInputs(t *testing.T) {
	w := sortWorkload()
	w.Impls = []bench.Implementation[[]uint32, []uint32]{estimating{sorter{name: "plain"}}}
	p := toyPlan(t, "plain")
	p.Benches = []Bench{Bind(w)}
	quick, slow := "numbers/n=1/seed=1", "numbers/n=1000/seed=1"
	for _, p.Inputs = range [][]string{{quick, slow}, {slow, quick}} {
		f, err := p.Forecast(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := Cell{Workload: "sort", Impl: "plain", Where: "cpu", Input: slow}
		if want := starting + 18*time.Millisecond; f[at] != want {
			t.Errorf("%v: %v, want %v", p.Inputs, f[at], want)
		}
	}
}

// The size of a pilot follows from its estimate: 62 numbers of 1,000 here. It grows while answers
// take a millisecond of this clock. The reference takes the estimated time, for three inputs on two
// cores.
func TestForecastByEstimates(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	w := sortWorkload()
	w.Impls = []bench.Implementation[[]uint32, []uint32]{estimating{sorter{name: "plain"}}, estimating{sorter{name: "other"}}}
	for impl, check := range map[string]time.Duration{"plain": 0, "other": 2 * time.Second} {
		p := toyPlan(t, impl)
		p.Benches = []Bench{Bind(w)}
		f, err := p.Forecast(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if want := starting + 18*time.Millisecond + check; f.Total() != want {
			t.Errorf("%s takes %v, want %v", impl, f.Total(), want)
		}
	}
}

// The reference runs if all inputs take it at most a third of the budget, with one input per core
// at a time.
func TestForecastOfReferences(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	w := sortWorkload()
	w.Impls = []bench.Implementation[[]uint32, []uint32]{estimating{sorter{name: "plain"}}, estimating{sorter{name: "other"}}}
	b := Bind(w)
	const each = 50 * time.Millisecond
	for _, c := range []struct {
		impl   string
		inputs int
		budget time.Duration
		want   time.Duration

		sampling *worker.Sampling
	}{
		{"plain", 3, time.Hour, 0, nil}, {"other", 3, time.Hour, 2 * each, nil}, {"other", 2, time.Hour, each, nil}, {"other", 1, time.Hour, each, nil},
		{"other", 3, 9 * each, 2 * each, nil}, {"other", 3, 9*each - 9, 0, nil}, {"other", 1, 3 * each, each, nil}, {"other", 1, 3*each - 3, 0, nil},
		{"other", 1, 18 * each, each, &worker.Sampling{}}, {"other", 1, 18*each - 18, 0, &worker.Sampling{}},
	} {
		g := &group{Plan: Plan{Budget: c.budget, Sampling: c.sampling}, input: "numbers/n=50/seed=1", variants: make([]string, c.inputs)}
		if got := g.byReference(cell{bench: b, about: bench.About{Name: c.impl}}); got != c.want {
			t.Errorf("%s, %d inputs, a budget of %v: %v, want %v", c.impl, c.inputs, c.budget, got, c.want)
		}
	}
}

// The first cell of an input in memory includes making it. Later cells and streamed inputs do not.
func TestForecastOfMaking(t *testing.T) {
	p := toyPlan(t, "plain", "other")
	for scope, want := range map[bench.Scope]time.Duration{"": 3 * 4 * time.Millisecond, bench.File: 0} {
		p.Scope = scope
		groups, err := p.groups(p.Inputs[0])
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.newGroup(groups[0])
		if err != nil {
			t.Fatal(err)
		}
		known := pilot{making: 1e-6} // per byte of 4,000
		f := foreseen{group: g, pilots: map[[3]string]pilot{{"sort", "plain", "gen=numbers"}: known, {"sort", "other", "gen=numbers"}: known}}
		for i, want := range []time.Duration{starting + want, starting} {
			if got, err := f.forecast(t.Context(), groups[0][i]); err != nil || got != want {
				t.Errorf("scope %q, cell %d: %v, %v; want %v", scope, i, got, err, want)
			}
		}
	}
}

// An implementation whose estimate exceeds the limit of a pilot gets a smaller input.
func TestForecastOfWhatPilotsMayNotTry(t *testing.T) {
	p := toyPlan(t, "fearful")
	p.Time, p.Inputs = 10*time.Minute, []string{"numbers/n=100000/seed=1"}
	f, err := p.Forecast(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Halved until it takes at most a second: 781 numbers in a millisecond.
	const answer = 128040973 * time.Nanosecond
	if want := starting + 3*answer; f.Total() != want {
		t.Errorf("%v, want %v", f.Total(), want)
	}
}
