// Package gvf is the question of the gradient vector flow of an image (Xu and Prince 1998;
// Smistad et al. 2012): its gradient V0, diffused where it is weak. There are two questions,
// each a workload: the field after N explicit steps, bit for bit, and the steady state to a
// tolerance. doc/proofs/gvf.md has the definitions.
package gvf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/verify"
)

// The names of the workloads.
const (
	Name   = "gvf"
	Steady = "gvf-steady"
)

// A Boundary selects the neighbour beyond the first and the last voxel of an axis.
type Boundary int64

// The boundaries.
const (
	Replicate Boundary = iota // the voxel at the border itself
	Third                     // the one before it: the mirror of Smistad et al. 2012, section 2
)

// Boundaries are their names, in their order.
func Boundaries() []string { return []string{"replicate", "third"} }

// String is the name.
func (b Boundary) String() string { return Boundaries()[b] }

// Before is the place of the neighbour before the first of n voxels of an axis.
func (b Boundary) Before(n int64) int64 { return min(int64(b), n-1) }

// After is the place of the neighbour behind the last of n voxels of an axis.
func (b Boundary) After(n int64) int64 { return max(n-1-int64(b), 0) }

// A Problem is an image with all that its flow depends on.
type Problem struct {
	grid.Source
	Mu       float32 // weight of the diffusion, more than 0
	Steps    int64   // Steps of the explicit scheme; 0 for V0 itself, and for the steady state
	Storage  Storage // the format of V0 and the field between steps
	Tol      float64 // largest residual of the steady state relative to |b·V0|, of each component; 0 for steps
	Boundary Boundary
	// V0 replaces the image's gradient as the field that flows, a list for each component as in a
	// Flow; nil for the gradient.
	V0 [][]float32
	// Mask has a value for each voxel. Nothing flows between voxels of different values, and voxels
	// of value 0 are outside the image. nil is an image of one part.
	Mask []float32
	keys []float64 // keys of the name it was made from

	strongest func() (float32, error) // the largest b, computed once
	seams     func() []Seam           // seams of the mask, computed once
}

// A Flow is a vector field: for each component, x, y and in 3D z, its values row-major.
type Flow struct{ V [][]float32 }

// WithAxes adds the components along axes of one voxel, which are 0: a field of a volume of one slice
// has 3.
func (f Flow) WithAxes(n int) Flow {
	lists := slices.Clone(f.V)
	for len(lists) < n {
		lists = append(lists, make([]float32, len(f.V[0])))
	}
	return Flow{lists}
}

// Dim returns the number of components of a field: 2 or 3.
func (p *Problem) Dim() int { return p.Shape().Dim() }

// AnswerBytes returns the bytes of a field.
func (p *Problem) AnswerBytes() int64 { return int64(p.Dim()) * 4 * p.Shape().Voxels() }

// Steps is the workload of the field after N steps. The first of the implementations is the
// reference.
func Steps(impls ...bench.Implementation[*Problem, Flow]) bench.Workload[*Problem, Flow] {
	q := Inputs(Name)
	return workload(q, bench.Question{
		Doc: "the gradient vector flow of an image after some explicit steps",
		Adversarial: []string{
			q.NameOf("noise/shape=1x1/type=uint8/seed=5", 3, 0.05, 0), q.NameOf("constant/shape=9x7x5/type=float32", 7, 0.05, 0),
			q.NameOf("noise/shape=17x9/type=uint8/seed=5", 0, 0.05, 0), q.NameOf("noise/shape=61x43/levels=64/type=float32/seed=5", 1, 0.15, 0),
			q.NameOf("noise/shape=2x31/type=uint8/seed=2", 2, 0.05, 1), q.NameOf("noise/shape=37x1/type=uint8/seed=3", 9, 0.1, 0),
			q.NameOf("grf/shape=67x35/type=float32/levels=1024/smooth=2/seed=3", 33, 0.18, 1), q.NameOf("checkerboard/shape=130x64/type=uint8", 40, 0.187, 0),
			q.NameOf("noise/shape=31x17x13/type=float32/levels=1024/seed=7", 13, 0.05, 0), q.NameOf("grf/shape=24x20x28/type=float32/levels=1024/smooth=2/seed=3", 16, 0.1, 1),
			q.NameOf("ball/shape=40x33x19/type=uint8", 25, 0.05, 0), q.NameOf("noise/shape=1x1x37/type=uint8/levels=3/seed=3", 5, 0.1, 0),
			q.NameOf("noise/shape=1x19x2/type=int16/levels=1000/seed=2", 6, 0.05, 1), q.NameOf("noise/shape=131x2x3/type=float32/levels=70000/seed=5", 11, 0.001, 0),
			q.NameOf("between/shape=43x11x7/levels=1024/seed=20", 17, 0.05, 0),
			q.NameOf("noise/shape=100x61x5/levels=1024/type=float32/seed=9", 9, 0.05, 0), // more than a tile, and its last ones overlap
		},
		Small: []string{q.NameOf("grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1", 64, 0.05, 0),
			q.NameOf("noise/shape=256x256/levels=1024/type=float32/seed=1", 128, 0.05, 0)},
	}, stepsPolicy(), impls)
}

// ToSteady is the workload of the steady state. The first of the implementations is the
// reference.
func ToSteady(impls ...bench.Implementation[*Problem, Flow]) bench.Workload[*Problem, Flow] {
	q := Inputs(Steady)
	return workload(q, bench.Question{
		Doc: "the steady state of the gradient vector flow of an image, to a tolerance",
		Adversarial: []string{
			q.NameOf("noise/shape=1x1/type=uint8/seed=5", 1e-4, 0.05, 0), q.NameOf("constant/shape=9x7x5/type=float32", 1e-4, 0.05, 0),
			q.NameOf("noise/shape=61x43/levels=64/type=float32/seed=5", 1e-5, 0.2, 0), q.NameOf("noise/shape=2x31/type=uint8/seed=2", 1e-4, 0.05, 1),
			q.NameOf("noise/shape=37x1/type=uint8/seed=3", 1e-4, 0.1, 0), q.NameOf("grf/shape=67x35/type=float32/levels=1024/smooth=2/seed=3", 1e-4, 0.2, 1),
			q.NameOf("ball/shape=97x60/type=uint8", 0.001, 0.1, 0), q.NameOf("grf/shape=31x17x13/type=float32/levels=1024/smooth=3/seed=7", 1e-4, 0.05, 0),
			q.NameOf("grf/shape=24x20x28/type=float32/levels=1024/smooth=2/seed=3", 1e-4, 0.1, 1), q.NameOf("ball/shape=40x33x19/type=uint8", 0.001, 0.05, 0),
			q.NameOf("noise/shape=1x1x37/type=uint8/levels=3/seed=3", 1e-4, 0.1, 0), q.NameOf("noise/shape=1x19x2/type=int16/levels=1000/seed=2", 1e-4, 1, 1),
			q.NameOf("noise/shape=131x2x3/type=float32/levels=70000/seed=5", 1e-4, 0.001, 0),
		},
		Small: []string{q.NameOf("grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1", 1e-4, 0.05, 0),
			q.NameOf("grf/shape=256x256/levels=1024/type=float32/smooth=2/seed=1", 1e-5, 0.1, 0)},
	}, steadyPolicy(), impls)
}

func workload(in *fields.Questions[*Problem], q bench.Question, policy verify.Policy[*Problem, Flow],
	impls []bench.Implementation[*Problem, Flow]) bench.Workload[*Problem, Flow] {
	q.Form, q.Reads = in.Form, in.Common().Image
	return bench.Workload[*Problem, Flow]{
		Name: in.Form.Kind, Question: q, Inputs: in, Impls: impls, Policy: policy, Encode: Encode, Decode: Decode,
		Reference: bench.NameOfFirst(impls),
	}
}

// NewProblem returns the flow of an image. Check reports its faults.
func NewProblem(s grid.Source, mu float32, steps int64, tol float64, boundary Boundary) *Problem {
	p := &Problem{Source: s, Mu: mu, Steps: steps, Tol: tol, Boundary: boundary}
	p.strongest, p.seams = sync.OnceValues(p.largestB), sync.OnceValue(p.findSeams)
	return p
}

// Flowing is the flow of another field, under the same conditions.
func (p *Problem) Flowing(v0 [][]float32, steps int64) *Problem {
	q := NewProblem(p.Source, p.Mu, steps, p.Tol, p.Boundary)
	q.V0, q.Mask = v0, p.Mask
	return q
}

// largestB is the largest |V0|².
func (p *Problem) largestB() (top float32, err error) {
	start, err := p.Start(0)
	if err != nil {
		return 0, err
	}
	for _, b := range start.B {
		top = max(top, b)
	}
	return top, nil
}

// Check is nil, or why the problem has no answer.
func (p *Problem) Check() error {
	if !(p.Mu > 0) || math.IsInf(float64(p.Mu), 0) {
		return fmt.Errorf("μ is %v: want a finite number above 0", p.Mu)
	}
	if p.Steps < 0 {
		return fmt.Errorf("%d steps: want 0 or more", p.Steps)
	}
	if p.Boundary != Replicate && p.Boundary != Third {
		return fmt.Errorf("boundary %d: want 0 for replicate, 1 for third", p.Boundary)
	}
	if err := p.maskable(); err != nil {
		return err
	}
	if p.Tol != 0 {
		if !(p.Tol > 0 && p.Tol < 1) {
			return fmt.Errorf("tolerance %v: want more than 0 and less than 1", p.Tol)
		}
		return nil
	}
	return p.stable()
}

// stable rejects steps that grow without bound. The eigenvalues of μL + b are from 0 to 4dμ + max
// b, and a step multiplies by 1 − eigenvalue. b of a gradient is at most d/4, so it is computed
// only if that bound is too large.
func (p *Problem) stable() error {
	d := float64(p.Dim())
	diffusion := 4 * d * float64(p.Mu)
	if p.StableAnyway() {
		return nil
	}
	b, err := p.strongest()
	if err != nil {
		return err
	}
	if diffusion+float64(b) > 2 {
		return fmt.Errorf("μ = %v in %dD: 4·%d·μ + the largest |V0|² is %.4g and steps above 2 grow without "+
			"bound; want μ of at most %.4g", p.Mu, p.Dim(), p.Dim(), diffusion+float64(b), (2-float64(b))/(4*d))
	}
	return nil
}

// StableAnyway reports whether steps are stable whatever the image is.
func (p *Problem) StableAnyway() bool {
	d := float64(p.Dim())
	return p.Steps == 0 || p.V0 == nil && 4*d*float64(p.Mu)+d/4 <= 2
}

func form(kind string) name.Form {
	first := name.Key{Key: "steps", Doc: "explicit steps", Min: 0, Max: 1 << 40, Default: 256}
	if kind == Steady {
		first = name.Key{Key: "tol", Doc: "residual relative to |b·V0|", Min: 1e-12, Max: 0.1, Default: 1e-4, Real: true}
	}
	return name.Form{Kind: kind, Keys: []name.Key{first,
		{Key: "mu", Doc: "weight μ of the diffusion", Min: 1e-6, Max: 10, Default: 0.05, Real: true},
		{Key: "boundary", Doc: "neighbour beyond the border: 0 the border voxel (replicate), 1 the one before it (third)",
			Min: 0, Max: 1, Default: 0},
	}}
}

// Inputs makes problems from names KIND/steps=N/mu=X/boundary=N/of=IMAGE, or KIND/tol=X/… for the
// steady state. The cost counts each voxel once for each step. Its bytes are one read of the image
// and one write of the field, because several steps can share a pass.
func Inputs(kind string) *fields.Questions[*Problem] {
	q := &fields.Questions[*Problem]{
		Form: form(kind),
		Pose: func(in grid.Source, keys []float64) (*Problem, error) { return pose(kind, in, keys) },
		Weigh: func(p *Problem, keys []float64, cost bench.Cost) bench.Cost {
			cost.Bytes += p.AnswerBytes()
			f := form(kind)
			first := f.Keys[0].Key
			cost.Class = fmt.Sprintf("%s=%s/mu=%s/boundary=%v/%s",
				first, f.Value(first, keys[0]), f.Value("mu", keys[1]), p.Boundary, cost.Class)
			if p.Storage != Float32 { // otherwise rows of different questions would share a table
				cost.Class = fmt.Sprintf("storage=%v/%s", p.Storage, cost.Class)
			}
			if kind != Steady {
				cost.Items *= max(1, p.Steps)
				cost.Unit = "vox·it"
			}
			return cost
		},
	}
	if kind != Steady {
		q.Fewer = func(keys []float64) (list [][]float64) {
			for _, steps := range []float64{math.Floor(keys[0] / 2), keys[0] - 1} {
				if steps > 0 && steps < keys[0] {
					list = append(list, []float64{steps, keys[1], keys[2]})
				}
			}
			return list
		}
	}
	return q
}

// Image returns the image that the field flows on.
func (p *Problem) Image() grid.Source { return p.Source }

// Keys returns the keys of the name that the problem was made from.
func (p *Problem) Keys() []float64 { return p.keys }

// Close closes the image.
func (p *Problem) Close() error { return grid.Close(p.Source) }

// pose makes the problem of an image that keys describe.
func pose(kind string, s grid.Source, keys []float64) (*Problem, error) {
	steps, tol := int64(keys[0]), 0.0
	if kind == Steady {
		steps, tol = 0, keys[0]
	}
	storage := storageOf(kind)
	p := NewProblem(s, float32(keys[1]), steps, tol, Boundary(keys[2]))
	p.keys, p.Storage = keys, storage
	return p, p.Check()
}

// Encode writes how many components there are, how many values each has, and the values.
func Encode(w io.Writer, f Flow) error {
	n := 0
	if len(f.V) > 0 {
		n = len(f.V[0])
	}
	b := bufio.NewWriterSize(w, 1<<18)
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(f.V)))
	b.Write(binary.LittleEndian.AppendUint64(head, uint64(n))) // Flush reports the error
	for _, list := range f.V {
		if len(list) != n {
			return fmt.Errorf("components of %d and of %d values", n, len(list))
		}
		if err := WriteValues(b, list); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteValues writes float32 little-endian.
func WriteValues(w io.Writer, list []float32) error {
	_, err := w.Write(grid.Bytes(list))
	return err
}

// Decode is the inverse of Encode.
func Decode(b []byte) (Flow, error) {
	malformed := errors.New("malformed flow")
	if len(b) < 16 {
		return Flow{}, malformed
	}
	d, n, rest := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), uint64(len(b)-16)
	if d > 3 || n > rest/4 || rest != 4*d*n {
		return Flow{}, malformed
	}
	f := Flow{V: lists(int(d), int64(n))}
	for c := range f.V {
		list := b[16+4*uint64(c)*n:][:4*n]
		inParts(int64(n), runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
			for i := lo; i < hi; i++ {
				f.V[c][i] = math.Float32frombits(binary.LittleEndian.Uint32(list[4*i:]))
			}
		})
	}
	return f, nil
}
