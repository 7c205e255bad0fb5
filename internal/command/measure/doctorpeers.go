package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/parts"
)

// toys are the images that show which question a peer answers. They have one voxel, two voxels, a
// diagonal, a ring, a box of three different sides, and ties, in 2D and 3D.
var toys = []string{
	"constant/shape=1x1/type=uint8", "noise/shape=2x1/type=uint8/levels=2/seed=1", "checkerboard/shape=2x2/type=uint8",
	"shell/shape=11x11/type=uint8", "noise/shape=5x4/type=uint8/levels=3/seed=1",
	"constant/shape=1x1x2/type=uint8", "checkerboard/shape=2x2x2/type=uint8",
	"shell/shape=11x11x11/type=uint8", "ramp/shape=5x4x3/type=uint8", "noise/shape=5x4x3/type=uint8/levels=3/seed=1",
}

// tryPeers prints the description of each peer, its round-trip time, and the verdicts on the toys of
// each of its claims. limit is the longest time of a reply.
func tryPeers(
	c *cli.Program, list []*peers.Peer, limit time.Duration, line func(what, format string, args ...any),
) error {
	var failed error
	for _, p := range list {
		if p.Broken != "" {
			line("peer:"+p.Name, "%s", p.Broken)
			failed = cli.VerdictError{Code: cli.ExitCrash, Why: "peer:" + p.Name + " is no peer"}
			continue
		}
		line("peer:"+p.Name, "%s, %s (%s)", p.Version, p.Method, p.Where)
		line("", "%s, sha256 %.16s…", p.Line(), p.SHA256)
		p.Limit = limit
		startup, floor, err := p.RoundTrip()
		if err != nil {
			line("", "%v", err)
			failed = cli.VerdictError{Code: cli.ExitCrash, Why: "peer:" + p.Name + " does not reply"}
			continue
		}
		line("", "starts in %s, a round trip takes %s", quantity.Duration(startup), quantity.Duration(floor))
		for _, claim := range p.Answers {
			cells, err := askToys(c, p, claim, limit, false)
			if err != nil {
				line("", "%s: %v", claim.Question(), err)
				failed = cli.Usage(err)
				continue
			}
			if err := showToys(c, p, claim, cells, limit, line); err != nil {
				failed = err
			}
		}
	}
	return failed
}

// errEnough ends the toys when the others would show no more.
var errEnough = errors.New("enough toys were asked")

// askToys runs a peer on the toys for a claim, and stops at the first TIMEOUT. If the workload has
// inputs other than images, it runs the first adversarial inputs. With admit it runs the hardest toys
// first, and stops at the first one that the peer answers. limit is the longest time of a reply.
func askToys(
	c *cli.Program, p *peers.Peer, claim peers.Claim, limit time.Duration, admit bool,
) (cells []bench.CellRecord, err error) {
	b, err := runner.Find(c.Benches, claim.Question())
	if err != nil || !slices.ContainsFunc(b.Abouts(), func(a bench.About) bool { return a.Foreign == p }) {
		return nil, errors.New("a workload that peers are not asked; eccbench list --workload all names them")
	}
	inputs := toys
	switch q := b.Question(); {
	case q.Form.Kind == "betti":
		inputs = nil
		for _, image := range toys {
			inputs = append(inputs, "betti/at=0/of="+image)
		}
	case q.Form.Kind != "":
		inputs = q.Adversarial[:min(len(q.Adversarial), len(toys))]
	}
	if inputs = slices.Clone(inputs); admit {
		slices.Reverse(inputs)
	}
	plan := runner.Plan{
		Command: c.Worker, Clock: c.Clock, Benches: c.Benches, Workload: b.Name(),
		Impls: []string{peers.Prefix + p.Name}, Inputs: inputs, Scope: bench.E2E, Threads: 1,
		Time: limit, Budget: min(tryBudget, limit),
	}
	err = runner.Run(context.Background(), plan, observer(func(cell bench.CellRecord) error {
		cells = append(cells, cell)
		if admit && cell.Status == verify.Verified || cell.Status == verify.Timeout {
			return errEnough
		}
		return nil
	}))
	if errors.Is(err, errEnough) {
		err = nil
	}
	return cells, err
}

// admit asks the peers of a plan about toys, removes each peer that answers none from the plan, and
// returns an error then: a run of hours would show no more. It warns of peers that fail some toys.
func admit(c *cli.Program, plan *runner.Plan, limit *cli.Limits) (refused error) {
	for _, p := range limit.Found() {
		claim, row := p.Claims(plan.Workload), peers.Prefix+p.Name
		if claim == nil || p.Broken != "" || !slices.Contains(plan.Impls, row) {
			continue
		}
		asked := c.Following(limit.Quiet).Waiting("asking " + row + " about tiny images")
		cells, err := askToys(c, p, *claim, plan.Time, true)
		asked()
		verified, skipped := count(cells)
		failed := len(cells) - verified - skipped
		if err != nil || failed == 0 {
			continue // its own cells report more
		}
		i := slices.IndexFunc(cells, func(c bench.CellRecord) bool { return !slices.Contains(unremarkable, c.Status) })
		why := fmt.Sprintf("%s fails %d of %d tiny images: %s: %s",
			row, failed, len(cells), cells[i].Status, cells[i].Reason)
		if verified == 0 {
			plan.Impls = slices.DeleteFunc(slices.Clone(plan.Impls), func(impl string) bool { return impl == row })
			refused = verdictOf(cells, row+" is left out: it answers no tiny image")
			why += "; it is left out"
		}
		fmt.Fprintf(c.Stderr, "eccbench: %s; eccbench doctor --peer %s prints more\n", why,
			parts.Quote(p.Line()))
	}
	return refused
}

// verdictOf returns the error of a peer that fails toys, with the exit code of their verdicts.
func verdictOf(cells []bench.CellRecord, why string) error {
	verdict := cli.VerdictError{Code: cli.ExitWrong}
	errors.As(cli.Verdict(cells), &verdict)
	verdict.Why = why
	return verdict
}

// unremarkable are the statuses of toys that do not count against a peer.
var unremarkable = []verify.Status{verify.Verified, verify.Skipped}

// showToys prints the answers to the toys of a claim. It also runs a wrong peer in the other
// construction, in case the peer claims the wrong one.
func showToys(
	c *cli.Program, p *peers.Peer, claim peers.Claim, cells []bench.CellRecord, limit time.Duration,
	line func(what, format string, args ...any),
) error {
	verified, skipped := count(cells)
	line("", "%s: %d of %d toys VERIFIED, %d SKIPPED", claim.Question(), verified, len(cells), skipped)
	if verified+skipped == len(cells) && verified > 0 {
		return nil
	}
	for _, cell := range cells {
		if cell.Status != verify.Verified && cell.Status != verify.Skipped {
			line("", "  %s: %s: %s", cell.Input, cell.Status, strings.TrimPrefix(cell.Reason, cell.Input+": "))
		}
	}
	failed := verdictOf(cells, fmt.Sprintf("peer:%s does not answer %s", p.Name, claim.Question()))
	if slices.ContainsFunc(cells, func(c bench.CellRecord) bool { return c.Status == verify.Timeout }) {
		line("", "no further toy is asked; a longer --time-limit may help")
		return failed
	}
	if verified == 0 && skipped < len(cells) {
		line("", "it answers no question of ours as %s", claim.Question())
	}
	other := claim
	if other.Construction = "V"; claim.Construction == "V" {
		other.Construction = "T"
	}
	if p.Claims(other.Question()) == nil {
		q := &peers.Peer{Name: p.Name, Path: p.Path, Args: p.Args, SHA256: p.SHA256, About: p.About}
		q.Answers = []peers.Claim{other}
		tried := cli.Program{Set: c.Set, Worker: c.Worker, Clock: c.Clock}
		tried.Join(nil, q)
		if again, err := askToys(&tried, q, other, limit, false); err == nil {
			if verified, skipped := count(again); verified > 0 && verified+skipped == len(again) {
				line("", "it claims %s, and answers %s", claim.Question(), other.Question())
			}
		}
	}
	return failed
}

func count(cells []bench.CellRecord) (verified, skipped int) {
	for _, cell := range cells {
		switch cell.Status {
		case verify.Verified:
			verified++
		case verify.Skipped:
			skipped++
		}
	}
	return verified, skipped
}
