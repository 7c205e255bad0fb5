package runner

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// A Forecast is how long each cell of a plan takes, about, with the making of the inputs
// that it is the first one of. What is refused takes none.
type Forecast map[Cell]time.Duration

// Total is how long the whole plan takes.
func (f Forecast) Total() (d time.Duration) {
	for _, t := range f {
		d += t
	}
	return d
}

// A pilot is how long a small input of a kind took, in seconds: to answer, for each of its
// items, and to make, for each byte that is shared; or that it was refused.
type pilot struct {
	answer, making float64
	refused        bool
}

const (
	// pilotItems and pilotTime bound the input of a pilot.
	pilotItems = 1 << 24
	pilotTime  = 110 * time.Millisecond
	// pilotLimit is when one is given up, but for the grace that every worker has.
	pilotLimit = time.Second
	// starting is how long a worker takes to begin and to end, startingDevice one that
	// opens a device.
	starting       = 250 * time.Millisecond
	startingDevice = time.Second
)

// Forecast has each implementation answer a small input of each kind that the plan has,
// and says how long the plan will take. On a device, which takes a second to begin with,
// the first one does, for all that compute there.
func (p Plan) Forecast(ctx context.Context) (Forecast, error) {
	all, pilots := Forecast{}, map[[3]string]pilot{}
	// The last are the largest as a rule, of which a pilot says most.
	for _, input := range slices.Backward(p.Inputs) {
		groups, err := p.groups(input)
		if err != nil {
			return nil, err
		}
		for _, cells := range groups {
			g, err := p.newGroup(cells)
			if err != nil {
				return nil, err
			}
			f := foreseen{group: g, pilots: pilots}
			for _, c := range cells {
				if g.done(c) {
					all[c.public()] = 0
					continue
				}
				if all[c.public()], err = f.forecast(ctx, c); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// A foreseen group is one whose cells were looked at in order.
type foreseen struct {
	*group
	pilots    map[[3]string]pilot
	made      bool // its inputs are, by then
	confirmed bool // an answer is, which the others are held to
}

// forecast is about how long a cell takes. The first one of an input has to wait until
// that is made, and the first answer to it is looked at more closely than the others.
func (g *foreseen) forecast(ctx context.Context, c cell) (time.Duration, error) {
	n := time.Duration(len(g.variants))
	onDevice := c.about.Where != "cpu"
	// What reads the inputs of another workload is not asked about them by their names.
	if g.refused != nil || !onDevice && c.bench == g.maker && c.bench.CanDo(c.about.Name, g.input, g.conditions(c)) != nil {
		return 0, nil
	}
	start, key := starting, [3]string{c.bench.Name(), c.about.Name + g.setting(c).Options, g.cost.Class}
	if onDevice {
		start, key = startingDevice, [3]string{c.about.Where}
	}
	took, ok := g.pilots[key]
	if !ok {
		var err error
		if took, err = g.pilot(ctx, c); err != nil {
			return 0, err
		}
		g.pilots[key] = took
	}
	if took.refused {
		return 0, nil
	}
	seconds := func(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
	answer := seconds(took.answer * float64(g.cost.Items))
	d := start
	if g.scope != bench.File && !g.made {
		g.made = true
		d += n * seconds(took.making*float64(g.size))
	}
	measure := n * answer
	if s := g.Sampling; s != nil {
		switch {
		case answer >= longCall:
			measure = max(n, (s.MaxTime+answer-1)/answer) * answer
		case answer > 0:
			// Sampling ends at its bounds, or before, when it has seen enough.
			measure = max(s.WarmUp, n*answer) + max(n*answer, min(s.MaxTime, time.Duration(s.MaxSamples)*answer)/2)
		}
	}
	if c.bench != g.maker {
		return d + measure, nil // what it answers is quickly checked
	}
	var check time.Duration
	independent, _ := c.bench.laws(g.input, answer, 0)
	if !g.confirmed {
		g.confirmed = true
		check = n*independent + g.byReference(c)
	}
	spare := g.Budget - check
	if g.Sampling != nil {
		spare = min(spare, measure/2-check)
	}
	_, more := c.bench.laws(g.input, answer, spare)
	return d + measure + min(check+more, g.Budget), nil
}

// byReference is about how long the reference takes to answer the inputs of a cell, as many
// at once as there are cores, where it is asked.
func (g *group) byReference(c cell) time.Duration {
	reference, n := c.bench.Reference(), len(g.variants)
	if reference == "" || reference == c.about.Name {
		return 0
	}
	estimate, _ := c.bench.estimate(reference, g.input, g.conditions(c))
	if estimate > referenceTime(g.Budget, n, g.Sampling) {
		return 0
	}
	cores := min(n, runtime.GOMAXPROCS(0))
	return estimate * time.Duration((n+cores-1)/cores)
}

// estimate is what an implementation says that an answer takes it, rather more than less,
// if it says so.
func (b *bound[In, Out]) estimate(impl, input string, c bench.Conditions) (time.Duration, bool) {
	c.Time = 1
	var long bench.TooLong
	if errors.As(b.CanDo(impl, input, c), &long) {
		return long.Estimate, true
	}
	return 0, false
}

// A candidate is an input that a pilot may have.
type candidate struct {
	name string
	cost bench.Cost
	size int64
}

// pilot has a worker answer a small input of the same kind as the group's: the largest one that
// its own estimate says is quick to answer, and then larger ones while the answers say so, since
// estimates are rather too long, and small inputs are answered slowly for their size. Where
// there is none that is small, or the worker gives no answer, it is the implementation's own
// estimate, or nothing.
func (g *group) pilot(ctx context.Context, c cell) (p pilot, err error) {
	conditions := g.conditions(c)
	at := candidate{g.input, g.cost, 0}
	var larger []candidate // than the one that is tried, the next one last
	for {
		if at.cost, at.size, err = g.maker.Describe(at.name); err != nil {
			return p, err
		}
		var estimate time.Duration
		known := false
		if c.about.Where == "cpu" && c.bench == g.maker { // or it would open its device here
			estimate, known = c.bench.estimate(c.about.Name, at.name, conditions)
		}
		p.answer = estimate.Seconds() / float64(max(1, at.cost.Items))
		if at.cost.Items <= pilotItems && (!known || estimate <= pilotTime) {
			break
		}
		if at.cost.Items <= pilotItems {
			larger = append(larger, at)
		}
		smaller := g.maker.smaller(at.name)
		if len(smaller) == 0 {
			return p, nil
		}
		at.name = smaller[0]
	}
	plan := g.Plan
	plan.Sampling, plan.Time, plan.Budget = &Sampling{MaxSamples: 3, MaxTime: pilotLimit}, pilotLimit, time.Microsecond
	for first := true; ; first = false {
		try := &group{Plan: plan, maker: g.maker, input: at.name, cost: at.cost, size: at.size, variants: []string{at.name}}
		record, making, err := try.runAlone(ctx, c)
		if first || record.Seconds != nil {
			p.making = making.Seconds() / float64(max(1, at.size))
		}
		if err != nil || record.Seconds == nil {
			p.refused = first && record.Status == verify.Skipped
			return p, err
		}
		p.answer = record.Seconds.Median / float64(max(1, at.cost.Items))
		last := len(larger) - 1
		if last < 0 || p.answer*float64(larger[last].cost.Items) > pilotTime.Seconds() {
			return p, nil
		}
		at, larger = larger[last], larger[:last]
	}
}

// laws is what the policy's cheapest independent law takes on an answer about an input, and
// what those take together that fit in what is spare, about.
func (b *bound[In, Out]) laws(input string, perCall, spare time.Duration) (independent, fitting time.Duration) {
	in, err := b.w.Inputs.Open(input)
	if err != nil {
		return 0, 0
	}
	defer closeInput(in)
	return b.w.Policy.Costs(in, perCall, spare)
}
