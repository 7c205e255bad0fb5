// Package gvf is the question of the gradient vector flow of an image (Xu and Prince 1998;
// Smistad et al. 2012): its gradient V0, diffused where it is weak. There are two questions,
// each a workload: the field after N explicit steps, bit for bit, and the steady state to a
// tolerance. doc/gvf.md has the definitions.
package gvf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// The names of the workloads.
const (
	Name   = "gvf"
	Steady = "gvf-steady"
)

// A Boundary is what the neighbour beyond the first or the last voxel of an axis is.
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
	Steps    int64   // of the explicit scheme; 0 for V0 itself, and for the steady state
	Storage  Storage // what V0 and the field are kept as, between steps
	Tol      float64 // largest residual of the steady state relative to |b·V0|, of each component; 0 for steps
	Boundary Boundary
	// V0 is the field that flows in place of the image's gradient, a list for each component
	// as in a Flow; nil for the gradient.
	V0 [][]float32
	// Mask has a value for each voxel: nothing flows between those whose values differ, and
	// those of 0 are no part of the image. nil for an image that is one part.
	Mask []float32
	keys [3]int64 // of the name it was made from

	strongest func() (float32, error) // the largest b, computed once
	seams     func() []Seam           // of the mask, likewise
}

// A Flow is a vector field: for each component, x, y and in 3D z, its values row-major.
type Flow struct{ V [][]float32 }

// Dim is how many components a field has: 2 or 3.
func (p *Problem) Dim() int { return p.Shape().Dim() }

// Steps is the workload of the field after N steps. The first of the implementations is the
// reference.
func Steps(impls ...bench.Implementation[*Problem, Flow]) bench.Workload[*Problem, Flow] {
	w := workload(Name, impls)
	w.Question = bench.Question{
		Doc:  "the gradient vector flow of an image after some explicit steps",
		Form: form(Name),
		Adversarial: []string{
			spell(Name, 3, 50, 0, "noise/shape=1x1/type=uint8/seed=5"), spell(Name, 7, 50, 0, "constant/shape=9x7x5/type=float32"),
			spell(Name, 0, 50, 0, "noise/shape=17x9/type=uint8/seed=5"), spell(Name, 1, 150, 0, "noise/shape=61x43/levels=64/type=float32/seed=5"),
			spell(Name, 2, 50, 1, "noise/shape=2x31/type=uint8/seed=2"), spell(Name, 9, 100, 0, "noise/shape=37x1/type=uint8/seed=3"),
			spell(Name, 33, 180, 1, "grf/shape=67x35/type=float32/levels=1024/smooth=2/seed=3"), spell(Name, 40, 187, 0, "checkerboard/shape=130x64/type=uint8"),
			spell(Name, 13, 50, 0, "noise/shape=31x17x13/type=float32/levels=1024/seed=7"), spell(Name, 16, 100, 1, "grf/shape=24x20x28/type=float32/levels=1024/smooth=2/seed=3"),
			spell(Name, 25, 50, 0, "ball/shape=40x33x19/type=uint8"), spell(Name, 5, 100, 0, "noise/shape=1x1x37/type=uint8/levels=3/seed=3"),
			spell(Name, 6, 50, 1, "noise/shape=1x19x2/type=int16/levels=1000/seed=2"), spell(Name, 11, 1, 0, "noise/shape=131x2x3/type=float32/levels=70000/seed=5"),
			spell(Name, 17, 50, 0, "between/shape=43x11x7/levels=1024/seed=20"),
		},
		Small: []string{spell(Name, 64, 50, 0, "grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1"), spell(Name, 128, 50, 0, "noise/shape=256x256/levels=1024/type=float32/seed=1")},
		Reads: of(Name).Image,
	}
	w.Policy = stepsPolicy()
	return w
}

// ToSteady is the workload of the steady state. The first of the implementations is the
// reference.
func ToSteady(impls ...bench.Implementation[*Problem, Flow]) bench.Workload[*Problem, Flow] {
	w := workload(Steady, impls)
	w.Question = bench.Question{
		Doc:  "the steady state of the gradient vector flow of an image, to a tolerance",
		Form: form(Steady),
		Adversarial: []string{
			spell(Steady, 4, 50, 0, "noise/shape=1x1/type=uint8/seed=5"), spell(Steady, 4, 50, 0, "constant/shape=9x7x5/type=float32"),
			spell(Steady, 5, 200, 0, "noise/shape=61x43/levels=64/type=float32/seed=5"), spell(Steady, 4, 50, 1, "noise/shape=2x31/type=uint8/seed=2"),
			spell(Steady, 4, 100, 0, "noise/shape=37x1/type=uint8/seed=3"), spell(Steady, 4, 200, 1, "grf/shape=67x35/type=float32/levels=1024/smooth=2/seed=3"),
			spell(Steady, 3, 100, 0, "ball/shape=97x60/type=uint8"), spell(Steady, 4, 50, 0, "grf/shape=31x17x13/type=float32/levels=1024/smooth=3/seed=7"),
			spell(Steady, 4, 100, 1, "grf/shape=24x20x28/type=float32/levels=1024/smooth=2/seed=3"), spell(Steady, 3, 50, 0, "ball/shape=40x33x19/type=uint8"),
			spell(Steady, 4, 100, 0, "noise/shape=1x1x37/type=uint8/levels=3/seed=3"), spell(Steady, 4, 1000, 1, "noise/shape=1x19x2/type=int16/levels=1000/seed=2"),
			spell(Steady, 4, 1, 0, "noise/shape=131x2x3/type=float32/levels=70000/seed=5"),
		},
		Small: []string{spell(Steady, 4, 50, 0, "grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1"), spell(Steady, 5, 100, 0, "grf/shape=256x256/levels=1024/type=float32/smooth=2/seed=1")},
		Reads: of(Steady).Image,
	}
	w.Policy = steadyPolicy()
	return w
}

func workload(kind string, impls []bench.Implementation[*Problem, Flow]) bench.Workload[*Problem, Flow] {
	w := bench.Workload[*Problem, Flow]{Name: kind, Inputs: Inputs{kind}, Impls: impls, Encode: Encode, Decode: Decode}
	if len(impls) > 0 {
		w.Reference = impls[0].About().Name
	}
	return w
}

// NewProblem is the flow of an image. What is wrong with it is said by Check.
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

// stable refuses steps that grow without bound: the eigenvalues of μL + b are from 0 to
// 4dμ + the largest b, and a step multiplies by 1 less that. b of a gradient is d/4 at most, so
// it has to be looked for only where that is not small enough.
func (p *Problem) stable() error {
	d := float64(p.Dim())
	diffusion := 4 * d * float64(p.Mu)
	if p.Steps == 0 || p.V0 == nil && diffusion+d/4 <= 2 {
		return nil
	}
	b, err := p.strongest()
	if err != nil {
		return err
	}
	if diffusion+float64(b) > 2 {
		return fmt.Errorf("μ = %v in %dD: 4·%d·μ + the largest |V0|² is %.4g and steps above 2 grow without bound; want μ of at most %.4g", p.Mu, p.Dim(), p.Dim(), diffusion+float64(b), (2-float64(b))/(4*d))
	}
	return nil
}

// Inputs makes problems from names KIND/steps=N/mu=N/boundary=N/of=IMAGE, those of the steady
// state from KIND/tol=N/….
type Inputs struct{ kind string }

// perMille is what mu is counted in.
const perMille = 1000

func form(kind string) name.Form {
	first := name.Key{Key: "steps", Doc: "explicit steps", Min: 0, Max: 1 << 40, Default: 256}
	if kind == Steady {
		first = name.Key{Key: "tol", Doc: "digits of the residual: at most 10^-N of |b·V0|", Min: 1, Max: 12, Default: 4}
	}
	return name.Form{Kind: kind, Keys: []name.Key{first,
		{Key: "mu", Doc: "weight μ of the diffusion, in thousandths", Min: 1, Max: 1 << 20, Default: 50},
		{Key: "boundary", Doc: "the neighbour beyond the border: 0 the voxel at it (replicate), 1 the one before that (third)", Min: 0, Max: 1, Default: 0},
	}}
}

// of is what is common to questions about an image. The keys are shared.
func of(kind string) fields.Of { return fields.Of{Form: form(kind), Tail: 3 * 8} }

func spell(kind string, first, mu, boundary int64, image string) string {
	f := form(kind)
	return f.Spell(map[string]int64{f.Keys[0].Key: first, "mu": mu, "boundary": boundary}, image)
}

func parse(kind, s string) (keys [3]int64, image string, err error) {
	f := form(kind)
	values, image, err := f.Parse(s)
	if err == nil {
		for i, k := range f.Keys {
			keys[i] = values[k.Key]
		}
	}
	return keys, image, err
}

// pose makes the problem of an image that keys describe.
func pose(kind string, s grid.Source, keys [3]int64) (*Problem, error) {
	steps, tol := keys[0], 0.0
	if kind == Steady {
		steps, tol = 0, math.Pow10(-int(keys[0]))
	}
	storage := storageOf(kind)
	p := NewProblem(s, float32(float64(keys[1])/perMille), steps, tol, Boundary(keys[2]))
	p.keys, p.Storage = keys, storage
	return p, p.Check()
}

// Open makes the problem that a name describes.
func (in Inputs) Open(name string) (*Problem, error) {
	keys, image, err := parse(in.kind, name)
	if err != nil {
		return nil, err
	}
	s, err := fields.Inputs{}.Open(image)
	if err != nil {
		return nil, err
	}
	p, err := pose(in.kind, s, keys)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), grid.Close(s))
	}
	return p, nil
}

// Close closes the image.
func (p *Problem) Close() error { return grid.Close(p.Source) }

// Variants names problems of other images.
func (in Inputs) Variants(name string, n int) ([]string, error) { return of(in.kind).Variants(name, n) }

// Files are what the image is read from.
func (in Inputs) Files(name string) []string { return of(in.kind).Files(name) }

// Smaller names problems of fewer steps, and of smaller images.
func (in Inputs) Smaller(name string) []string {
	keys, image, err := parse(in.kind, name)
	if err != nil {
		return nil
	}
	var names []string
	if in.kind != Steady {
		for _, fewer := range []int64{keys[0] / 2, keys[0] - 1} {
			if fewer > 0 && fewer < keys[0] {
				names = append(names, spell(in.kind, fewer, keys[1], keys[2], image))
			}
		}
	}
	for _, smaller := range (fields.Inputs{}).Smaller(image) {
		names = append(names, spell(in.kind, keys[0], keys[1], keys[2], smaller))
	}
	return names
}

// Cost counts a voxel once for each step, and of bytes one read of the image and one writing
// of the field: steps can be taken many at a time.
func (in Inputs) Cost(name string, p *Problem) bench.Cost {
	keys, image, _ := parse(in.kind, name) // it was opened by this name
	cost := fields.Inputs{}.Cost(image, p.Source)
	cost.Bytes += int64(p.Dim()) * 4 * cost.Items
	cost.Class = fmt.Sprintf("%s=%d/mu=%d/boundary=%v/%s", form(in.kind).Keys[0].Key, keys[0], keys[1], p.Boundary, cost.Class)
	if in.kind != Steady {
		cost.Items *= max(1, p.Steps)
		cost.Unit = "vox·it"
	}
	return cost
}

// Size is that of the image, and the keys after it.
func (in Inputs) Size(p *Problem) int64 { return of(in.kind).Size(p.Source) }

// Share writes the image and the keys.
func (in Inputs) Share(p *Problem, f *os.File) error {
	var tail []byte
	for _, k := range p.keys {
		tail = binary.LittleEndian.AppendUint64(tail, uint64(k))
	}
	return of(in.kind).Share(p.Source, tail, f)
}

// Attach makes the problem of bytes that Share wrote.
func (in Inputs) Attach(mapped []byte) (*Problem, error) {
	s, tail, err := of(in.kind).Attach(mapped)
	if err != nil {
		return nil, err
	}
	var keys [3]int64
	for i := range keys {
		keys[i] = int64(binary.LittleEndian.Uint64(tail[8*i:]))
	}
	return pose(in.kind, s, keys)
}

// Encode writes how many components there are, how many values each has, and the values.
func Encode(w io.Writer, f Flow) error {
	n := 0
	if len(f.V) > 0 {
		n = len(f.V[0])
	}
	b := bufio.NewWriterSize(w, 1<<18)
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(f.V)))
	b.Write(binary.LittleEndian.AppendUint64(head, uint64(n))) // Flush says what went wrong
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
	const part = 1 << 14
	buf := make([]byte, 0, 4*part)
	for at := 0; at < len(list); at += part {
		buf = buf[:0]
		for _, v := range list[at:min(at+part, len(list))] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
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
	f := Flow{V: make([][]float32, d)}
	for c := range f.V {
		f.V[c] = make([]float32, n)
		for i := range f.V[c] {
			f.V[c][i] = math.Float32frombits(binary.LittleEndian.Uint32(b[16+4*(uint64(c)*n+uint64(i)):]))
		}
	}
	return f, nil
}
