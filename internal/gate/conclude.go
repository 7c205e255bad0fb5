package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"eccbench/internal/verify"
)

func logRatio(a, b float64) float64 { return math.Log(a / b) }

// conclude decides the verdict from the cells. Exact findings count on any machine. If the base
// differs from itself by more than the effect, only they count, and slowdowns that the noise of the
// machine cannot explain. There is no PASS if a cell could not be judged.
func (r *Result) conclude(alone bool) {
	count := map[Decision]int{}
	exactly := 0
	for _, c := range r.Cells {
		count[c.Decision]++
		if c.Decision == Regression && c.Reason != "" {
			exactly++
		}
	}
	noisy := r.tooNoisy()
	say := func(v Verdict, format string, args ...any) { r.Verdict, r.Reason = v, fmt.Sprintf(format, args...) }
	n := len(r.Cells)
	why := r.baseFailed()
	switch {
	case alone && why == "":
		if bad := count[Inconclusive] + count[NotRun]; bad > 0 {
			say(IsInconclusive, "%s not fit for a baseline", cellsAre(bad, n))
		} else if len(noisy) > 0 {
			say(IsInconclusive, "the machine is too noisy for a baseline: %s", strings.Join(noisy, "; "))
		} else {
			say(Stored, "%s measured", cellsAre(n, n))
		}
	case count[Wrong]+count[Changed] > 0:
		say(IsWrong, "%s wrong or changed in answer", cellsAre(count[Wrong]+count[Changed], n))
	case why != "":
		say(IsFailed, "no cell has a result of the base, which is %s", why)
	case count[Failed] > 0:
		say(IsFailed, "%s without a result of the candidate", cellsAre(count[Failed], n))
	case exactly > 0:
		say(IsRegression, "%s allocating more bytes or launching more kernels", cellsAre(exactly, n))
	case len(noisy) > 0 && r.unexplained() == 0:
		say(IsInconclusive, "the machine is too noisy: %s", strings.Join(noisy, "; "))
	case len(noisy) > 0:
		say(IsRegression, "%s slower by more than the effect and this machine's noise, confirmed by a fresh run",
			cellsAre(r.unexplained(), n))
	case count[Regression] > 0:
		say(IsRegression, "%s slower by more than the effect, confirmed by a fresh run", cellsAre(count[Regression], n))
	case count[Inconclusive]+count[NotRun] > 0:
		say(IsInconclusive, "%s not settled", cellsAre(count[Inconclusive]+count[NotRun], n))
	default:
		say(Pass, "%s no slower than the effect allows", cellsAre(n, n))
	}
	r.Exit = r.Verdict.Exit()
	if r.Interrupted {
		r.Verdict, r.Exit = IsInconclusive, IsInconclusive.Exit()
		r.Reason = "interrupted; so far: " + r.Reason
	}
	if n == 0 {
		say(IsInconclusive, "no cells")
		r.Exit = r.Verdict.Exit()
	}
}

// baseFailed returns how the base failed if all of its processes did, as those of something that is no such program.
func (r *Result) baseFailed() (why string) {
	for _, p := range r.Processes {
		switch {
		case p.Side == Candidate:
		case p.Status != verify.Crashed && p.Status != verify.Timeout:
			return ""
		case why == "":
			why = strings.TrimSuffix(fmt.Sprintf("%s: %s", p.Status, p.Reason), ": ")
		}
	}
	return why
}

func cellsAre(k, n int) string {
	switch {
	case n == 1:
		return "the only cell is"
	case k == n:
		return fmt.Sprintf("all %d cells are", n)
	case k == 1:
		return fmt.Sprintf("1 of %d cells is", n)
	}
	return fmt.Sprintf("%d of %d cells are", k, n)
}

// tooNoisy names the cells in which the base differs from itself by more than the effect. The
// machine may then cause any difference.
func (r *Result) tooNoisy() []string {
	var list []string
	for _, c := range r.Cells {
		if slices.Contains([]Decision{Wrong, Changed, Failed, NotRun}, c.Decision) {
			continue
		}
		if c.Noise != nil && math.Abs(math.Log1p(c.Noise.Change)) >= math.Log1p(c.Effect) {
			list = append(list, fmt.Sprintf("the base over itself is %+.1f %% in %s %s", c.Noise.Change*100, c.Impl, c.Input))
		} else if r.Stored != nil && c.Between > c.Effect {
			list = append(list, fmt.Sprintf("processes of one program are %.1f %% apart in %s %s", c.Between*100, c.Impl,
				c.Input))
		}
	}
	return list
}

// unexplained counts the cells whose slowdown in both runs together exceeds the effect and the
// largest difference of the base from itself.
func (r *Result) unexplained() int {
	var most float64
	for _, c := range r.Cells {
		if c.Noise != nil {
			most = max(most, math.Abs(math.Log1p(c.Noise.Change)))
		}
		most = max(most, c.Between)
	}
	n := 0
	for _, c := range r.Cells {
		beyond := func(e *Estimate) bool {
			return e != nil && e.Lo != nil && math.Log1p(*e.Lo) > most+math.Log1p(c.Effect)
		}
		if c.Decision == Regression && beyond(c.Both) {
			n++
		}
	}
	return n
}
