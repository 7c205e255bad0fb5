package eigenmap

import (
	"math"
	"runtime"
	"time"

	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
	"eccbench/internal/workloads/eigenmap/inertia"
)

type (
	measure = verify.Measure
	law     = verify.Law[*Problem, Map]
	ask     = verify.Ask[*Problem, Map]
)

// certifiedPolicy returns the rules to verify pairs: by measurements on the harness's own graph,
// independent of other answers, and by a proof of completeness.
func certifiedPolicy() verify.Policy[*Problem, Map] {
	return recordOnly(verify.Policy[*Problem, Map]{
		Distance: distance,
		Laws: verify.Bounded([]law{
			nothingBelow(), nothingMissed(), nothingFound(),
			{Name: "closed spectrum of an image all of one value", Calls: 1, Work: costPerNode(100), Measure: spectrum},
			{Name: "the second value is at most any set's normalised cut", Work: passes(2), Measure: cuts},
			{Name: "flip along x has the same values", Calls: 1, Work: costPerNode(5), Measure: flipped},
		}, vectors),
		Weak: weak,
	})
}

// recordOnly returns the policy with all measures except the residual in records only.
func recordOnly(policy verify.Policy[*Problem, Map]) verify.Policy[*Problem, Map] {
	distance := policy.Distance
	policy.Distance = func(p *Problem, want, got Map) []verify.Measure { return markAside(distance(p, want, got)) }
	for k, l := range policy.Laws {
		policy.Laws[k].Measure = func(p *Problem, m Map, ask ask) ([]verify.Measure, error) {
			list, err := l.Measure(p, m, ask)
			return markAside(list), err
		}
	}
	return policy
}

func markAside(list []verify.Measure) []verify.Measure {
	for k := range list {
		list[k].Aside = list[k].Name != residual
	}
	return list
}

// nothingBelow returns the proof for graphs of voxels whose LDLᵀ would take longer.
func nothingBelow() law {
	return law{Name: "nothing missed, by a random system", Independent: true, Alternative: true, Work: solving,
		Memory: systems,
		Measure: func(p *Problem, m Map, ask ask) ([]measure, error) {
			if solving(p) == 0 {
				return nil, verify.ErrNotApplicable
			}
			return definite(p, m, ask)
		}}
}

func nothingMissed() law {
	return law{Name: "nothing missed, by the inertia of LDLᵀ", Independent: true, Alternative: true, Work: factoring,
		Memory: factors, Measure: complete}
}

// nothingFound returns a law that can refute an answer but not confirm it.
func nothingFound() law {
	return law{Name: "nothing lower found by a search of its own", Note: "evidence, not proof", Work: searched,
		Measure: search}
}

// Complete returns the laws for answers outside of a run. They are the proofs whose estimates are at
// most a minute and 4 GiB, the faster one first, and the other one in case that it does not decide. If
// there is none, it is the search, which leaves an answer UNVERIFIED.
func Complete(p *Problem) (laws []law) {
	const most, mostMemory = time.Minute, 4 << 30
	for _, l := range []law{nothingBelow(), nothingMissed()} {
		if took := l.Work(p); took > 0 && took <= most && l.Memory(p) <= mostMemory {
			laws = append(laws, l)
		}
	}
	if laws == nil {
		laws = []law{nothingFound()}
	}
	return laws
}

// stepsPolicy returns the rules to verify the result of steps. They check that the vectors are
// steps, that the pairs belong to their matrix, and that the values equal the definition's.
func stepsPolicy() verify.Policy[*Problem, Map] {
	return recordOnly(verify.Policy[*Problem, Map]{
		Distance: distance,
		Laws: verify.Bounded([]law{
			takenSteps(),
			{Name: "the definition's steps in float64", Independent: true, Work: stepping, Measure: stepped},
		}, vectors),
		Weak: weak,
	})
}

func takenSteps() law {
	return law{Name: "the steps' recurrence in float64", Note: "of random combinations of the steps' vectors",
		Independent: true, Work: recurring, Measure: recurrence}
}

// distance measures an answer alone, and its values against another answer: residuals do not show
// that no pair is missing.
func distance(p *Problem, want, got Map) []verify.Measure {
	list, _, err := p.measuresOf(got)
	if p.Kind == Lanczos {
		list, _, err = p.pairs(got)
	}
	if err != nil {
		return nan(residual, err.Error())
	}
	if p.Kind == Lanczos || len(want.Values) != len(got.Values) {
		return list
	}
	off := make([]float64, len(got.Values))
	for k, v := range got.Values {
		off[k] = math.Abs(v-want.Values[k]) / (ofProof*want.Values[k] + ofCancels)
	}
	return append(list, worst("values off another answer's, of what may be", 1, off))
}

// weak returns the reason why a right answer would not expose a wrong program, or "".
func weak(p *Problem, _ Map) string {
	values, err := p.Numbers()
	if err != nil {
		return ""
	}
	if lo, hi := span(values); lo == hi {
		return "the image is all of one value, and its pairs follow from its shape"
	}
	return ""
}

// edgeNS returns the time of an edge in nanoseconds, about three times the measured time on a busy
// machine.
func (p *Problem) edgeNS() float64 {
	if p.Kind != Grid && Vectors() {
		return 4 + float64(p.Features())/16
	}
	return 20
}

// edges returns the approximate number of pairs of neighbours in a pass.
func (p *Problem) edges() float64 {
	n := float64(p.Nodes().Voxels())
	if p.Kind == Grid {
		return n * float64(2*len(p.followers()))
	}
	return n * p.patchesAround(p.farEnough(rows))
}

// patchesAround returns the approximate number of patches whose distance factor is at least e to
// the power of −exponent.
func (p *Problem) patchesAround(exponent float64) float64 {
	square := 2 * exponent * p.Beta * p.Beta
	ball := math.Pi * square
	if p.Shape().D > 1 {
		ball *= 4. / 3 * math.Sqrt(square)
	}
	return min(float64(p.Nodes().Voxels()), ball)
}

// passes returns the time of n passes through all rows of W on all cores.
func passes(n int) func(*Problem) time.Duration {
	return func(p *Problem) time.Duration {
		return time.Duration(float64(n) * p.edgeNS() * p.edges() / float64(runtime.GOMAXPROCS(0)))
	}
}

// searched returns the time of a search: a few passes, and steps of some nanoseconds per node, and
// per near weight for patches.
func searched(p *Problem) time.Duration {
	const node, near = 30, 1
	each := node * float64(p.Nodes().Voxels())
	if p.Kind != Grid {
		each += near * min(mostNear, float64(p.Nodes().Voxels())*p.patchesAround(-math.Log(nearest)))
	}
	return passes(3)(p) + time.Duration(starts*mostSought*each/float64(runtime.GOMAXPROCS(0)))
}

// costPerNode returns a cost in nanoseconds per node, on all cores.
func costPerNode(each float64) func(*Problem) time.Duration {
	return func(p *Problem) time.Duration {
		return time.Duration(each * float64(p.Nodes().Voxels()) / float64(runtime.GOMAXPROCS(0)))
	}
}

// factoring returns the time of one LDLᵀ, about three times the measured time on a busy machine.
// Grids use all cores, patches one.
func factoring(p *Problem) time.Duration {
	n := float64(p.Nodes().Voxels())
	if p.Kind == Grid {
		products, _ := p.dissected()
		return time.Duration((inertia.ProductNS()*products + inertia.NodeNS()*n) / float64(runtime.GOMAXPROCS(0)))
	}
	if !factored(int(n)) {
		return 0 // not tried
	}
	return passes(3)(p) + time.Duration(n*n*n)
}

// solving returns the time of the solution of a random system, about three times the measured time
// on a busy machine, and twice as much for small grids. So it is 0 if LDLᵀ takes less than half of that and little
// memory, or if there is no random system.
func solving(p *Problem) time.Duration {
	node, link := 6e3, 3e3 // of all steps
	if !algebra.Fast() {
		node, link = 3*node, 3*link
	}
	links := float64(len(p.followers()))
	took := costPerNode(node + link*links)(p)
	if p.Kind != Grid || 2*links*float64(p.Nodes().Voxels()) > math.MaxInt32 ||
		2*factoring(p) <= took && factors(p) <= mostFactors {
		return 0
	}
	return took
}

// mostFactors is the memory from which a random system is preferred to LDLᵀ.
const mostFactors = 8 << 30

// systems returns the memory of a random system.
func systems(p *Problem) int64 {
	if solving(p) == 0 {
		return 0 // not tried
	}
	return vectors(p) + 32*int64(len(p.followers()))*p.Nodes().Voxels()
}

// dissected returns the cost of nested dissection of the grid: products and bytes.
func (p *Problem) dissected() (products float64, bytes int64) {
	s := p.Shape()
	return inertia.Cost([3]int{int(s.W), int(s.H), int(s.D)}, int(p.square()), runtime.GOMAXPROCS(0))
}

// factors returns the memory of LDLᵀ and of the weights of a dense graph.
func factors(p *Problem) int64 {
	n := p.Nodes().Voxels()
	if p.Kind == Grid {
		_, bytes := p.dissected()
		return bytes + vectors(p)
	}
	if !factored(int(n)) {
		return 0 // not tried
	}
	return 16*n*n + vectors(p)
}

// vectors returns the memory of the graph of a grid and of some vectors.
func vectors(p *Problem) int64 { return 512 * p.Nodes().Voxels() }

// stepping returns the time of the definition's steps.
func stepping(p *Problem) time.Duration {
	own := float64(p.Steps) * float64(p.Steps) * float64(p.Nodes().Voxels()) * 4
	return passes(p.Steps)(p) + time.Duration(own)
}

// recurring returns the time to check the recurrence of the steps. It is two passes, one more to
// make the graph, and a few products with the vectors of the steps; steps need hundreds of passes.
func recurring(p *Problem) time.Duration {
	const products = 4*draws + 2*pairsOfSteps
	return passes(3)(p) + costPerNode(products*float64(p.Steps))(p)
}
