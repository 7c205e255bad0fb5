// Package eigenmap defines the workloads of the Laplacian eigenmap of an image (Shi and Malik 2000;
// Belkin and Niyogi 2003; Cheng et al. 2014). The answer is the lowest eigenpairs of the Laplacian
// of a graph of its voxels or patches; the second pair gives a segmentation. Two workloads ask for
// pairs to a tolerance, one for each graph. The third asks for the values after a number of steps
// of Lanczos' method. doc/proofs/eigenmap.md has the definitions.
package eigenmap

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/verify"
)

// The names of the workloads.
const (
	Grid    = "eigenmap"         // one node per voxel, to a tolerance
	Patch   = "eigenmap-patch"   // one node per patch, to a tolerance
	Lanczos = "eigenmap-lanczos" // one node per patch, a number of steps of Lanczos' method
)

// A Problem is an image with the parameters of its graph and of the question.
type Problem struct {
	grid.Source
	Kind  string  // the workload
	K     int     // number of the lowest pairs
	Tol   float64 // greatest |Lx − λx|₂ of each pair, |x|₂ = 1; 0 for steps
	Steps int     // of Lanczos' method; 0 for a tolerance
	Seed  uint64  // of the start vector of the steps

	// For the graph of voxels.
	Sigma   float64 // of the weight exp(−(f_i − f_j)²/Sigma²) + Floor, f from 0 to 1
	Floor   float64
	Corners bool  // neighbours are all voxels that touch, otherwise all within Radius
	Radius  int64 // in voxels; 1 for neighbours that share a face
	Plain   bool  // L = D − W; otherwise I − D^−½ W D^−½

	// For the graph of patches.
	Alpha, Beta float64 // of the weight exp(−|x_i − x_j|²/(M·Alpha²)) · exp(−|p_i − p_j|²/(2·Beta²))
	Side        int64   // voxels of a patch along each axis

	keys  []float64 // in the name of the problem
	graph func() (*Graph, error)
	last  *certified
}

// A Map holds the lowest eigenpairs: values in ascending order, and a unit vector for each with a
// number for each node. The last axis of the image is the fastest.
type Map struct {
	Values  []float64
	Vectors [][]float64
	Steps
}

// Steps hold the result of steps of Lanczos' method. They are the tridiagonal matrix T, as its
// diagonal and the numbers next to it, and the vectors of the steps in order.
type Steps struct{ Diagonal, OffDiagonal, Basis []float64 }

// OfVoxels returns the problem of the k lowest pairs of the graph of voxels.
func OfVoxels(s grid.Source, k int, tol, sigma, floor float64, corners, plain bool) *Problem {
	return (&Problem{Source: s, Kind: Grid, K: k, Tol: tol, Sigma: sigma, Floor: floor, Corners: corners,
		Radius: 1, Plain: plain}).ready()
}

// WithRadius returns the same problem for the graph of voxels in which all voxels within a radius are
// neighbours (Shi and Malik 2000).
func (p *Problem) WithRadius(radius int64) *Problem {
	q := *p
	q.Radius = radius
	return q.ready()
}

// OfPatches returns the problem of the k lowest pairs of the graph of patches.
func OfPatches(s grid.Source, k int, tol, alpha, beta float64, side int64) *Problem {
	return (&Problem{Source: s, Kind: Patch, K: k, Tol: tol, Alpha: alpha, Beta: beta, Side: side}).ready()
}

// OfSteps returns the problem of the pairs after some steps of Lanczos' method on the graph of
// patches.
func OfSteps(s grid.Source, k, steps int, seed uint64, alpha, beta float64, side int64) *Problem {
	return (&Problem{Source: s, Kind: Lanczos, K: k, Steps: steps, Seed: seed, Alpha: alpha, Beta: beta,
		Side: side}).ready()
}

func (p *Problem) ready() *Problem {
	p.graph, p.last = sync.OnceValues(p.define), &certified{}
	return p
}

// ForImage returns the same problem for another image.
func (p *Problem) ForImage(s grid.Source) *Problem {
	q := *p
	q.Source = s
	return q.ready()
}

// Nodes returns the shape of the grid of nodes.
func (p *Problem) Nodes() grid.Shape {
	s := p.Shape()
	if p.Kind != Grid {
		s.W, s.H = s.W/p.Side, s.H/p.Side
		if s.D > 1 {
			s.D /= p.Side
		}
	}
	return s
}

// AnswerBytes returns the bytes of all vectors of an answer.
func (p *Problem) AnswerBytes() int64 { return 8 * int64(p.K+p.Steps) * p.Nodes().Voxels() }

// Features returns the number of voxels of a patch.
func (p *Problem) Features() int64 {
	if p.Shape().D > 1 {
		return p.Side * p.Side * p.Side
	}
	return p.Side * p.Side
}

// mostRadius is the largest radius of a neighbourhood.
const mostRadius = 64

// mostFeatures limits squared distances of features to 32 bits.
const mostFeatures = 1 << 15

// Check returns the reason why the problem has no answer, or nil.
func (p *Problem) Check() error {
	if p.Kind != Grid {
		s := p.Shape()
		if least := min(s.W, s.H); p.Side < 1 || p.Side > least || s.D > 1 && p.Side > s.D {
			return fmt.Errorf("patches of %d voxels along each axis: want 1 to %d for %v", p.Side, least, s)
		}
		if m := p.Features(); m > mostFeatures {
			return fmt.Errorf("patches of %d voxels: want at most %d", m, mostFeatures)
		}
		if !positive(p.Alpha) || !positive(p.Beta) {
			return fmt.Errorf("alpha is %v and beta %v: want finite numbers above 0", p.Alpha, p.Beta)
		}
	} else {
		switch {
		case p.Radius < 1 || p.Radius > mostRadius:
			return fmt.Errorf("radius %d: want 1 to %d voxels", p.Radius, mostRadius)
		case p.Radius > 1 && p.Corners:
			return fmt.Errorf("corners and radius %d: neighbours are all that touch or all within a radius; leave "+
				"out one of them", p.Radius)
		}
		if !positive(p.Sigma) {
			return fmt.Errorf("sigma is %v: want a finite number above 0", p.Sigma)
		}
		if !(p.Floor >= 0) || math.IsInf(p.Floor, 0) {
			return fmt.Errorf("floor is %v: want a finite number of 0 or more", p.Floor)
		}
	}
	n := p.Nodes().Voxels()
	if n < 2 {
		return fmt.Errorf("a graph of %d node: want 2 or more", n)
	}
	if p.K < 1 || int64(p.K) > n {
		return fmt.Errorf("%d pairs of %d nodes: want 1 to %d", p.K, n, n)
	}
	if p.Kind == Lanczos {
		if p.Steps < p.K || int64(p.Steps) > n {
			return fmt.Errorf("%d steps for %d pairs of %d nodes: want %d to %d", p.Steps, p.K, n, p.K, n)
		}
		return nil
	}
	if !(p.Tol > 0 && p.Tol < 1) {
		return fmt.Errorf("tolerance %v: want more than 0 and less than 1", p.Tol)
	}
	return nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// CheckKind returns the reason why an implementation of some workloads does not answer the problem, or
// nil.
func (p *Problem) CheckKind(kinds ...string) error {
	for _, k := range kinds {
		if p.Kind == k {
			return p.Check()
		}
	}
	return fmt.Errorf("answers %v, not %s", kinds, p.Kind)
}

// Start returns number i of the start vector of Lanczos' method before its normalisation. It is
// from −½ to ½, by SplitMix64 of the seed and i.
func (p *Problem) Start(i int) float64 { return Uniform(p.Seed, uint64(i)) }

// Uniform returns the i-th number of a seed, from −½ to ½. It uses 53 bits of the i-th output of
// SplitMix64 (Steele et al. 2014) for the seed.
func Uniform(seed, i uint64) float64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11)/(1<<53) - 0.5
}

// OnGrid returns the workload of the graph of voxels. The first implementation is the reference.
func OnGrid(impls ...bench.Implementation[*Problem, Map]) bench.Workload[*Problem, Map] {
	q := Inputs(Grid)
	return workload(q, bench.Question{
		Doc: "the lowest eigenpairs of the Laplacian of an image's voxels, to a tolerance",
		Adversarial: []string{
			q.NameOf("noise/shape=2x1/type=uint8/seed=5", 2, 1e-8, 0.1, 0.001, 0, 0), q.NameOf("noise/shape=17x13/type=uint8/seed=5", 4, 1e-8, 0.1, 0.001, 0, 0),
			q.NameOf("noise/shape=37x1/type=uint8/seed=3", 3, 1e-9, 0.3, 0.001, 1, 0), q.NameOf("ball/shape=33x40/type=uint8", 4, 1e-7, 0.1, 0.001, 0, 0),
			q.NameOf("ball/shape=30x31/type=uint8", 3, 1e-7, 0.03, 0, 0, 0), // two components
			// a double value, which residuals do not count
			q.NameOf("constant/shape=32x32/type=uint8", 4, 1e-6, 0.1, 0.001, 0, 0),
			q.NameOf("grf/shape=61x35/type=float32/levels=1024/smooth=2/seed=3", 5, 1e-6, 0.1, 0.001, 1, 0), q.NameOf("checkerboard/shape=24x18/type=uint8", 4, 1e-6, 0.1, 0.001, 0, 1),
			q.NameOf("noise/shape=11x12x9/type=float32/levels=1024/seed=7", 4, 1e-7, 0.2, 0.001, 0, 0),
			q.NameOf("grf/shape=16x13x14/type=float32/levels=1024/smooth=2/seed=3", 6, 1e-6, 0.1, 1e-4, 1, 1),
			q.NameOf("ball/shape=20x17x12/type=uint8", 2, 1e-8, 0.1, 0.001, 0, 1), q.NameOf("noise/shape=1x1x37/type=uint8/levels=3/seed=3", 37, 1e-6, 1, 0.001, 0, 0),
			q.NameOf("noise/shape=131x2x3/type=float32/levels=70000/seed=5", 4, 1e-6, 0.1, 0.001, 0, 0),
			q.NameOf("grf/shape=47x38/type=float32/levels=1024/smooth=2/seed=3", 4, 1e-6, 0.1, 0.001, 0, 0, 5),
			q.NameOf("ball/shape=13x16x12/type=uint8", 3, 1e-7, 0.1, 0.001, 0, 1, 2),
			q.NameOf("grf/shape=128x120/type=float32/levels=1024/smooth=4/seed=9", 4, 1e-6, 0.1, 0.001, 0, 0),
		},
		Small: []string{q.NameOf("grf/shape=256x256/levels=1024/type=float32/smooth=3/seed=1", 4, 1e-6, 0.1, 0.001, 0, 0),
			q.NameOf("grf/shape=48x48x48/levels=1024/type=float32/smooth=2/seed=1", 4, 1e-6, 0.1, 0.001, 0, 0)},
	}, certifiedPolicy(), impls)
}

// OnPatches returns the workload of the graph of patches.
func OnPatches(impls ...bench.Implementation[*Problem, Map]) bench.Workload[*Problem, Map] {
	q := Inputs(Patch)
	return workload(q, bench.Question{
		Doc: "the lowest eigenpairs of the Laplacian of an image's patches, to a tolerance",
		Adversarial: []string{
			q.NameOf("noise/shape=8x4/type=uint8/seed=5", 2, 1e-8, 40, 5, 4), q.NameOf("ball/shape=80x64/type=uint8", 3, 1e-8, 40, 5, 4),
			q.NameOf("grf/shape=67x51/type=float32/levels=1024/smooth=3/seed=3", 2, 1e-9, 60, 20, 4), q.NameOf("noise/shape=31x17/type=int16/levels=1000/seed=2", 4, 1e-8, 100, 2, 1),
			q.NameOf("grf/shape=24x20x28/type=float32/levels=1024/smooth=3/seed=3", 3, 1e-8, 40, 3, 4), q.NameOf("checkerboard/shape=48x36/type=uint8", 2, 1e-8, 200, 4, 3),
			q.NameOf("grf/shape=128x96/type=uint8/levels=256/smooth=5/seed=9", 2, 1e-8, 40, 3, 4),
		},
		Small: []string{q.NameOf("grf/shape=256x96/levels=256/type=uint8/smooth=3/seed=1", 2, 1e-8, 40, 5, 4)},
	}, certifiedPolicy(), impls)
}

// BySteps returns the workload of Lanczos' method with a fixed number of steps.
func BySteps(impls ...bench.Implementation[*Problem, Map]) bench.Workload[*Problem, Map] {
	q := Inputs(Lanczos)
	return workload(q, bench.Question{
		Doc: "the lowest eigenpairs of the Laplacian of an image's patches after some steps of Lanczos' method",
		Adversarial: []string{
			q.NameOf("noise/shape=8x8/type=uint8/seed=5", 4, 40, 5, 4, 1), q.NameOf("ball/shape=80x64/type=uint8", 12, 40, 5, 4, 1),
			q.NameOf("grf/shape=67x51/type=float32/levels=1024/smooth=3/seed=3", 48, 60, 20, 4, 2), q.NameOf("grf/shape=24x20x28/type=float32/levels=1024/smooth=3/seed=3", 2, 40, 3, 4, 7),
			q.NameOf("grf/shape=128x96/type=uint8/levels=256/smooth=5/seed=9", 50, 40, 3, 4, 3),
		},
		Small: []string{q.NameOf("grf/shape=256x96/levels=256/type=uint8/smooth=3/seed=1", 12, 40, 5, 4, 1)},
	}, stepsPolicy(), impls)
}

func workload(in *fields.Questions[*Problem], q bench.Question, policy verify.Policy[*Problem, Map],
	impls []bench.Implementation[*Problem, Map]) bench.Workload[*Problem, Map] {
	q.Form, q.Reads = in.Form, in.Common().Image
	return bench.Workload[*Problem, Map]{
		Name: in.Form.Kind, Question: q, Inputs: in, Impls: impls, Policy: policy, Encode: Encode, Decode: Decode,
		Reference: bench.NameOfFirst(impls),
	}
}

// Inputs makes problems of a kind from names KIND/key=N/…/of=IMAGE. Smaller problems may have too
// few nodes. Cost counts each node once, and each step of Lanczos' method as a product of the
// matrix and a vector. Its bytes are one read of the image and one write of all vectors.
func Inputs(kind string) *fields.Questions[*Problem] {
	return &fields.Questions[*Problem]{
		Form: form(kind),
		Pose: func(in grid.Source, keys []float64) (*Problem, error) { return pose(kind, in, keys) },
		Weigh: func(p *Problem, keys []float64, cost bench.Cost) bench.Cost {
			cost.Bytes += p.AnswerBytes()
			class := ""
			f := form(kind)
			for i, k := range f.Keys {
				if !k.Optional || keys[i] != k.Default {
					class += k.Key + "=" + f.Value(k.Key, keys[i]) + "/"
				}
			}
			cost.Class = class + cost.Class
			switch kind {
			case Patch:
				cost.Items, cost.Unit = p.Nodes().Voxels(), "patch"
			case Lanczos:
				cost.Items, cost.Unit = int64(p.Steps), "matvec"
			}
			return cost
		},
	}
}

// Image returns the image of the graph.
func (p *Problem) Image() grid.Source { return p.Source }

// Keys returns the values of the keys in the problem's name.
func (p *Problem) Keys() []float64 { return p.keys }

// Close closes the image.
func (p *Problem) Close() error { return grid.Close(p.Source) }

func form(kind string) name.Form {
	if kind == Grid {
		return name.Form{Kind: kind, Keys: []name.Key{
			{Key: "k", Doc: "number of lowest pairs", Min: 1, Max: 1 << 10, Default: 4},
			{Key: "tol", Doc: "largest residual |Lx − λx|", Min: 1e-12, Max: 0.1, Default: 1e-6, Real: true},
			{Key: "sigma", Doc: "scale σ of value differences (0 to 1)",
				Min: 1e-6, Max: 10, Default: 0.1, Real: true},
			{Key: "floor", Doc: "least weight", Min: 0, Max: 1, Default: 0.001, Real: true},
			{Key: "corners", Doc: "neighbours: 0: voxels that share a face, 1: all that touch",
				Min: 0, Max: 1, Default: 0},
			{Key: "plain", Doc: "0 for I − D^−½WD^−½, 1 for D − W", Min: 0, Max: 1, Default: 0},
			{Key: "radius", Doc: "neighbours are voxels within this distance",
				Min: 1, Max: mostRadius, Default: 1, Optional: true},
		}}
	}
	graph := []name.Key{
		{Key: "alpha", Doc: "scale α of grey differences (0 to 255)", Min: 1e-3, Max: 1 << 20, Default: 40, Real: true},
		{Key: "beta", Doc: "scale β of distances, in patches", Min: 1e-3, Max: 1 << 20, Default: 5, Real: true},
		{Key: "side", Doc: "side of a patch in voxels", Min: 1, Max: 1 << 10, Default: 4},
	}
	if kind == Patch {
		return name.Form{Kind: kind, Keys: append([]name.Key{
			{Key: "k", Doc: "number of lowest pairs", Min: 1, Max: 1 << 10, Default: 2},
			{Key: "tol", Doc: "largest residual |Lx − λx|", Min: 1e-12, Max: 0.1, Default: 1e-8, Real: true},
		}, graph...)}
	}
	return name.Form{Kind: kind, Keys: append(append([]name.Key{
		{Key: "steps", Doc: "steps of Lanczos' method", Min: 2, Max: 1 << 20, Default: 250},
	}, graph...), name.Key{Key: "start", Doc: "seed of the start vector", Min: 0, Max: 1 << 40, Default: 1})}
}

// pairsOfSteps is the number of pairs after steps: two, as in the paper.
const pairsOfSteps = 2

// pose makes the problem for an image and the values of the keys.
func pose(kind string, s grid.Source, k []float64) (*Problem, error) {
	var p *Problem
	switch kind {
	case Grid:
		p = OfVoxels(s, int(k[0]), k[1], k[2], k[3], k[4] == 1, k[5] == 1).WithRadius(int64(k[6]))
	case Patch:
		p = OfPatches(s, int(k[0]), k[1], k[2], k[3], int64(k[4]))
	default:
		p = OfSteps(s, pairsOfSteps, int(k[0]), uint64(k[4]), k[1], k[2], int64(k[3]))
	}
	p.keys = k
	return p, p.Check()
}

// Encode writes a header of the number of pairs, the length of a vector and the number of steps.
// Values and vectors follow, and for steps the matrix and the vectors.
func Encode(w io.Writer, m Map) error {
	n := 0
	if len(m.Vectors) > 0 {
		n = len(m.Vectors[0])
	}
	steps := len(m.Diagonal)
	if len(m.Values) != len(m.Vectors) || len(m.OffDiagonal) != max(0, steps-1) || len(m.Basis) != steps*n {
		return fmt.Errorf("%d values, %d vectors, and of %d steps %d and %d numbers", len(m.Values), len(m.Vectors),
			steps, len(m.OffDiagonal), len(m.Basis))
	}
	b := bufio.NewWriterSize(w, 1<<18)
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(m.Values)))
	head = binary.LittleEndian.AppendUint64(head, uint64(n))
	b.Write(binary.LittleEndian.AppendUint64(head, uint64(steps))) // Flush returns the error
	put := func(list []float64) {
		var number [8]byte
		for _, v := range list {
			binary.LittleEndian.PutUint64(number[:], math.Float64bits(v))
			b.Write(number[:])
		}
	}
	put(m.Values)
	for _, list := range m.Vectors {
		if len(list) != n {
			return fmt.Errorf("vectors of %d and of %d numbers", n, len(list))
		}
		put(list)
	}
	put(m.Diagonal)
	put(m.OffDiagonal)
	put(m.Basis)
	return b.Flush()
}

// Decode is the inverse of Encode.
func Decode(b []byte) (Map, error) {
	malformed := errors.New("malformed eigenmap")
	const head = 24
	if len(b) < head || len(b)%8 != 0 {
		return Map{}, malformed
	}
	k, n, steps := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	rest := uint64(len(b)-head) / 8
	if most := rest + 1; k > most || n > most || steps > most || (n+1)*k/(n+1) != k || (n+2)*steps/(n+2) != steps {
		return Map{}, malformed
	}
	beside := max(steps, 1) - 1
	if (n+1)*k+steps+beside+n*steps != rest {
		return Map{}, malformed
	}
	at := head
	take := func(n uint64) []float64 {
		if n == 0 {
			return nil
		}
		list := make([]float64, n)
		for i := range list {
			list[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[at:]))
			at += 8
		}
		return list
	}
	m := Map{Values: take(k), Vectors: make([][]float64, k)}
	for i := range m.Vectors {
		m.Vectors[i] = take(n)
	}
	m.Steps = Steps{take(steps), take(beside), take(n * steps)}
	return m, nil
}

// An Output is the map of a job; the next Do overwrites it.
type Output struct{ Map }

// NewOutput allocates the output of a problem.
func NewOutput(p *Problem) Output {
	n := int(p.Nodes().Voxels())
	o := Output{Map{Values: make([]float64, p.K), Vectors: make([][]float64, p.K)}}
	for i := range o.Vectors {
		o.Vectors[i] = make([]float64, n)
	}
	if p.Steps > 0 {
		o.Steps = Steps{make([]float64, p.Steps), make([]float64, p.Steps-1), make([]float64, n*p.Steps)}
	}
	return o
}

// Poison overwrites the output with values that no right answer contains.
func (o Output) Poison() {
	for _, list := range append([][]float64{o.Values, o.Diagonal, o.OffDiagonal, o.Basis}, o.Vectors...) {
		for i := range list {
			list[i] = 1e30
		}
	}
}

// Out returns the map.
func (o Output) Out() (Map, error) { return o.Map, nil }

// Close frees nothing, since everything is garbage collected.
func (o Output) Close() error { return nil }
