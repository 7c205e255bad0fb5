package runner

import (
	"context"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// Limits of the search for a smaller failing input.
const (
	shrinkTries = 200
	shrinkTime  = 10 * time.Second
)

// shrink searches for a smaller input on which the implementation is still wrong, starting from the
// failing input of the record. It does so only for the first failure of an implementation, because
// later failures usually have the same cause.
func (g *group) shrink(ctx context.Context, c cell, record bench.CellRecord) string {
	failing := g.input
	if i := slices.IndexFunc(record.Evidence, func(e verify.Evidence) bool { return e.Diff != nil }); i >= 0 {
		failing = record.Evidence[i].Input
	}
	if g.shrunk[c.about.Name] {
		return failing
	}
	g.shrunk[c.about.Name] = true
	ctx, cancel := g.Clock.Limit(ctx, shrinkTime)
	defer cancel()
	tries := 0
	for {
		smaller := ""
		for _, candidate := range c.bench.smaller(failing) {
			if tries++; tries > shrinkTries || ctx.Err() != nil {
				return failing
			}
			if g.fails(ctx, c, candidate) {
				smaller = candidate
				break
			}
		}
		if smaller == "" {
			return failing
		}
		failing = smaller
	}
}

func (g *group) fails(ctx context.Context, c cell, input string) bool {
	p := g.Plan
	p.Sampling, p.Scope, p.Reproduce, p.idle = nil, "", nil, nil // as the command that reproduces it
	cost, size, err := c.bench.Describe(input)
	if err != nil {
		return false
	}
	try := &group{Plan: p, maker: c.bench, input: input, cost: cost, size: size, variants: []string{input}}
	record, _, err := try.runAlone(ctx, c)
	return err == nil && record.Status == verify.Wrong
}

// runAlone runs one cell of a group without inputs. It also returns the time to make them.
func (g *group) runAlone(ctx context.Context, c cell) (record bench.CellRecord, making time.Duration, err error) {
	defer func() { closeAll(g.shared) }()
	g.scope, g.refused = g.scopeOf(g.size, len(g.variants))
	if g.scope != bench.File && g.refused == nil {
		began := g.Clock.Now()
		if err := g.share(ctx); err != nil {
			return record, 0, err
		}
		making = g.Clock.Since(began)
	}
	record, answers, err := g.work(ctx, c)
	closeAll(answers)
	return record, making, err
}
