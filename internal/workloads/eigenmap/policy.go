package eigenmap

import (
	"math"
	"runtime"
	"time"

	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/inertia"
)

type (
	measure = verify.Measure
	law     = verify.Law[*Problem, Map]
	ask     = verify.Ask[*Problem, Map]
)

// certifiedPolicy says when pairs are right: by what the harness finds of them, whatever another's
// are, and when nothing is missing.
func certifiedPolicy() verify.Policy[*Problem, Map] {
	return recordOnly(verify.Policy[*Problem, Map]{
		Distance: distance,
		Laws: verify.Bounded([]law{
			nothingMissed(), nothingFound(),
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
	policy.Distance = func(p *Problem, want, got Map) []verify.Measure { return aside(distance(p, want, got)) }
	for k, l := range policy.Laws {
		policy.Laws[k].Measure = func(p *Problem, m Map, ask ask) ([]verify.Measure, error) {
			list, err := l.Measure(p, m, ask)
			return aside(list), err
		}
	}
	return policy
}

func aside(list []verify.Measure) []verify.Measure {
	for k := range list {
		list[k].Aside = list[k].Name != residual
	}
	return list
}

func nothingMissed() law {
	return law{Name: "nothing missed, by the inertia of LDLᵀ", Independent: true, Work: factoring, Memory: factors, Measure: complete}
}

// nothingFound is evidence and no proof: it refutes an answer, and confirms none.
func nothingFound() law {
	return law{Name: "nothing lower found by a search of its own", Note: "evidence, not proof", Work: searched, Measure: search}
}

// Complete returns the law for answers outside of a run: the proof where it takes at most a minute, as it is
// estimated, and 4 GiB; otherwise the search, which leaves an answer UNVERIFIED.
func Complete(p *Problem) verify.Law[*Problem, Map] {
	const most, mostMemory = time.Minute, 4 << 30
	affordable := p.Kind == Grid || factored(int(p.Nodes().Voxels()))
	if affordable && factoring(p) <= most && factors(p) <= mostMemory {
		return nothingMissed()
	}
	return nothingFound()
}

// stepsPolicy says when what steps reach is right: when they are steps, and the pairs those of their
// matrix; and the values those of the definition's steps.
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
	return law{Name: "the steps' recurrence in float64", Note: "of random combinations of the steps' vectors", Independent: true, Work: recurring, Measure: recurrence}
}

// distance measures an answer by itself, and its values by those of another: residuals alone do not say
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

// weak says why an answer would not tell a right program from a wrong one.
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

// edgeNS is what an edge takes in nanoseconds, about three times what it took on a busy machine.
func (p *Problem) edgeNS() float64 {
	if p.Kind != Grid && Vectors() {
		return 4 + float64(p.Features())/16
	}
	return 20
}

// edges is how many pairs of neighbours a pass goes through, or about.
func (p *Problem) edges() float64 {
	n := float64(p.Nodes().Voxels())
	if p.Kind == Grid {
		return n * float64(2*len(p.behind()))
	}
	return n * p.patchesAround(p.farEnough(rows))
}

// patchesAround returns about how many patches there are as far from one as the factor of distance is e to the
// power of −exponent.
func (p *Problem) patchesAround(exponent float64) float64 {
	square := 2 * exponent * p.Beta * p.Beta
	ball := math.Pi * square
	if p.Shape().D > 1 {
		ball *= 4. / 3 * math.Sqrt(square)
	}
	return min(float64(p.Nodes().Voxels()), ball)
}

// passes is so many passes through all rows of W on all cores.
func passes(n int) func(*Problem) time.Duration {
	return func(p *Problem) time.Duration {
		return time.Duration(float64(n) * p.edgeNS() * p.edges() / float64(runtime.GOMAXPROCS(0)))
	}
}

// searched is what a search takes: a few passes, and steps of some nanoseconds a node, and of
// patches a near weight.
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

// factoring is the time of one LDLᵀ, about three times what it took on a machine with other work: of a grid
// on all cores, of patches on one.
func factoring(p *Problem) time.Duration {
	n := float64(p.Nodes().Voxels())
	if p.Kind == Grid {
		const product, node = 0.4, 6000
		products, _ := p.dissected()
		return time.Duration((product*products + node*n) / float64(runtime.GOMAXPROCS(0)))
	}
	if !factored(int(n)) {
		return 0 // and not tried
	}
	return passes(3)(p) + time.Duration(n*n*n)
}

// dissected is what nested dissection of the grid takes: products, and bytes.
func (p *Problem) dissected() (products float64, bytes int64) {
	s := p.Shape()
	return inertia.Cost([3]int{int(s.W), int(s.H), int(s.D)}, int(p.square()), runtime.GOMAXPROCS(0))
}

// factors is the memory of LDLᵀ, and of the weights of a dense graph.
func factors(p *Problem) int64 {
	n := p.Nodes().Voxels()
	if p.Kind == Grid {
		_, bytes := p.dissected()
		return bytes + vectors(p)
	}
	if !factored(int(n)) {
		return 0 // and not tried
	}
	return 16*n*n + vectors(p)
}

// vectors is the memory of the graph of a grid and of some vectors.
func vectors(p *Problem) int64 { return 512 * p.Nodes().Voxels() }

// stepping is what the definition's steps take.
func stepping(p *Problem) time.Duration {
	own := float64(p.Steps) * float64(p.Steps) * float64(p.Nodes().Voxels()) * 4
	return passes(p.Steps)(p) + time.Duration(own)
}

// recurring is what it takes to try the steps' recurrence: two passes of what steps take hundreds of,
// that which makes the graph, and a few products with the vectors of the steps.
func recurring(p *Problem) time.Duration {
	const products = 4*draws + 2*pairsOfSteps
	return passes(3)(p) + costPerNode(products*float64(p.Steps))(p)
}
