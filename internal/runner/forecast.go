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
	"eccbench/internal/worker"
)

// A Forecast estimates the time of each cell of a plan. The first cell of an input includes making
// the input. A rejected cell takes no time.
type Forecast map[Cell]time.Duration

// Total returns the estimated time of the whole plan.
func (f Forecast) Total() (d time.Duration) {
	for _, t := range f {
		d += t
	}
	return d
}

// A pilot is the measurement of a small input: the seconds per item to answer it, and the seconds
// per shared byte to make it. Alternatively it records that the implementation rejected the input,
// or that the input is quick: then nothing was measured that holds for others.
type pilot struct {
	answer, making float64
	refused, quick bool
}

const (
	// pilotItems and pilotTime limit the input of a pilot.
	pilotItems = 1 << 24
	pilotTime  = 110 * time.Millisecond
	// A cell of such an input takes hardly longer than its pilot.
	quickBytes = 1 << 20
	quickTime  = time.Millisecond
	// pilotLimit is the time limit of a pilot, without the grace period of every worker. A peer has no
	// such period: it has up to peerPilot for a reply.
	pilotLimit = time.Second
	peerPilot  = grace
	// starting is the time to start and stop a worker; startingDevice includes opening a device.
	starting       = 250 * time.Millisecond
	startingDevice = time.Second
)

// Forecast estimates the time of a plan. It measures each implementation on a small input of each
// kind. For devices, which need a second to start, one implementation represents all others of the
// same kind.
func (p Plan) Forecast(ctx context.Context) (Forecast, error) {
	all, pilots := Forecast{}, map[[3]string]pilot{}
	// The last inputs are usually the largest, and pilots from a similar size are most accurate.
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

// A foreseen group is a group whose cells are being estimated in order.
type foreseen struct {
	*group
	pilots    map[[3]string]pilot
	made      bool // its inputs are counted already
	confirmed bool // its first answer is counted already; later answers are compared with it
}

// forecast estimates the time of a cell. The first cell of an input includes making it, and the
// first answer takes longer to check than the others.
func (g *foreseen) forecast(ctx context.Context, c cell) (time.Duration, error) {
	n := time.Duration(len(g.variants))
	onDevice := c.about.Where != "cpu"
	// A ceiling of another workload cannot be queried by the name of this input.
	if g.refused != nil || !onDevice && c.bench == g.maker && c.bench.CanDo(c.about.Name, g.input,
		g.conditions(c)) != nil {
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
		if !took.quick {
			g.pilots[key] = took
		}
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
		case answer >= s.LongFrom(!onDevice && c.about.Foreign == nil):
			measure = max(n, (s.MaxTime+answer-1)/answer) * answer
		case answer > 0:
			// Sampling ends at its limits, or earlier when the interval is narrow enough.
			measure = max(s.WarmUp, n*answer) + max(n*answer, min(s.MaxTime, time.Duration(s.MaxSamples)*answer)/2)
		}
	}
	if c.bench != g.maker {
		return d + measure, nil // a ceiling's answer is quick to check
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

// byReference estimates the time of the reference for the inputs of a cell, in parallel on all
// cores. It is 0 if the reference is not run.
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

// estimate returns an implementation's own estimate for an answer, if it makes one. Such estimates
// tend to be high.
func (b *bound[In, Out]) estimate(impl, input string, c bench.Conditions) (time.Duration, bool) {
	c.Time = 1
	var long bench.TooLong
	if errors.As(b.CanDo(impl, input, c), &long) {
		return long.Estimate, true
	}
	return 0, false
}

// A candidate is a possible input for a pilot.
type candidate struct {
	name string
	cost bench.Cost
	size int64
}

// pilot measures a worker on a small input of the same kind as the group's. It starts with the
// largest input whose estimate is below pilotTime. Then it tries larger ones while the measured
// time allows it, since estimates tend to be high and small inputs are slow for their size. Without
// a small input, or without an answer, or if the input itself is quick, it returns the implementation's own estimate,
// or zero.
func (g *group) pilot(ctx context.Context, c cell) (p pilot, err error) {
	conditions := g.conditions(c)
	at := candidate{g.input, g.cost, 0}
	var larger []candidate // larger than the current one, the smallest last
	for {
		if at.cost, at.size, err = g.maker.Describe(at.name); err != nil {
			return p, err
		}
		var estimate time.Duration
		known := false
		if c.about.Where == "cpu" && c.bench == g.maker { // otherwise the estimate would open the device in this process
			estimate, known = c.bench.estimate(c.about.Name, at.name, conditions)
		}
		p.answer = estimate.Seconds() / float64(max(1, at.cost.Items))
		if at.name == g.input && c.about.Where == "cpu" && c.about.Foreign == nil && at.cost.Bytes <= quickBytes &&
			(c.bench != g.maker || known && estimate <= quickTime) {
			p.quick = true
			return p, nil
		}
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
	plan, limit := g.Plan, pilotLimit
	if c.about.Foreign != nil {
		limit = max(limit, min(g.Time, peerPilot))
	}
	plan.Sampling, plan.Time, plan.Budget = &worker.Sampling{MaxSamples: 3, MaxTime: pilotLimit}, limit,
		time.Microsecond
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

// laws estimates the time of the policy's cheapest independent law for an answer, and the total
// time of the laws that fit into the spare time.
func (b *bound[In, Out]) laws(input string, perCall, spare time.Duration) (independent, fitting time.Duration) {
	in, err := b.w.Inputs.Open(input)
	if err != nil {
		return 0, 0
	}
	defer closeInput(in)
	return b.w.Policy.Costs(in, perCall, spare)
}
