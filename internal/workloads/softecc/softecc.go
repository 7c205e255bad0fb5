// Package softecc is the workload of the differentiable Euler characteristic curve (Saxena et al.
// 2025, equations 4 to 10). A sigmoid replaces the step of each cell. The answer is the curve at
// some thresholds, and its gradients by the image, the thresholds, the direction and both scales.
// doc/proofs/softecc.md has the definitions.
package softecc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// Name is the name of the workload.
const Name = "softecc"

// Workload returns the workload with some implementations; the first is the definition.
func Workload(impls ...bench.Implementation[*Problem, Answer]) bench.Workload[*Problem, Answer] {
	return bench.Workload[*Problem, Answer]{
		Name: Name, Question: question(), Inputs: Inputs(), Impls: impls, Policy: Policy(), Encode: Encode, Decode: Decode,
		Reference: bench.NameOfFirst(impls),
	}
}

func question() bench.Question {
	q := Inputs()
	return bench.Question{
		Doc:  "the Euler characteristic curve with sigmoids in place of steps, and its gradients",
		Form: q.Form,
		Adversarial: []string{
			q.NameOf("noise/shape=1x1/type=uint8/seed=5", 5, 100, 0.1, 1), q.NameOf("constant/shape=9x7x5/type=float32", 1, 100, 0, 2),
			q.NameOf("noise/shape=61x43/levels=64/type=float32/seed=5", 16, 20, 0.1, 3), q.NameOf("noise/shape=31x17x13/type=float32/levels=1024/seed=7", 64, 1000, 0, 4),
			q.NameOf("grf/shape=24x20x28/type=float32/levels=1024/smooth=2/seed=3", 64, 1000, 0.1, 5), q.NameOf("noise/shape=13x17x5/type=int16/levels=1000/seed=2", 7, 1, 5, 6),
			q.NameOf("noise/shape=17x16x15/type=uint16/levels=300/seed=7", 9, 1000000, 0.05, 7), q.NameOf("noise/shape=29x31/type=uint8/seed=8", 33, 100000000, 0, 8),
			q.NameOf("between/shape=43x11x7/levels=1024/seed=20", 16, 100, 0.1, 9), q.NameOf("distinct/shape=16x15x14/type=float32/seed=11", 16, 300, 0, 10),
			q.NameOf("noise/shape=5x3x40/levels=4/type=float32/seed=5", 300, 50, 0.01, 11), q.NameOf("noise/shape=1x1x37/type=uint8/levels=3/seed=3", 8, 100, 0.1, 12),
			q.NameOf("noise/shape=23x13x11/type=float32/levels=1024/seed=6", 9, 100, 0.1, 15, 1), q.NameOf("noise/shape=41x37/type=uint8/seed=9", 64, 1000, 0, 16, 1),
			q.NameOf("checkerboard/shape=8x9x10/type=uint8", 12, 200, 0.03, 13), q.NameOf("noise/shape=131x2x3/type=float32/levels=70000/seed=5", 16, 1000, 0.1, 14),
		},
		Small: []string{q.NameOf("noise/shape=64x64x64/levels=1024/type=float32/seed=1", 64, 100, 0.1, 1),
			q.NameOf("grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1", 64, 100, 0.1, 1)},
		Reads: q.Common().Image,
	}
}

// A Problem is an image with all parameters of its soft curve.
type Problem struct {
	grid.Source
	Tau    []float64  // the thresholds, in any order
	G      []float64  // the upstream gradient: one number for each threshold
	Lambda float64    // steepness: σ(z) = 1/(1+exp(−λz)), in 1/grey value
	Alpha  float64    // scale of the direction, in grey values per voxel
	V      [3]float64 // direction as x, y, z, of any length but 0; u = V/|V| is 3D for 2D images too
	// Vertices selects the V-construction: voxels are vertices, and a cell has the greatest value of
	// its vertices in Y. Otherwise voxels are top cells.
	Vertices bool

	keys []float64 // m, lambda, alpha, dir and vertices of the problem's name
}

// A Batch is several images of one shape, type and ladder, with the parameters of the first one's problem, but each
// with an upstream gradient of its own. It has one Answer for each image.
type Batch struct {
	*Problem
	Images grid.Batch
}

// Len returns the number of images.
func (b *Batch) Len() int64 { return b.Images.Images }

// Image returns all images, one after the other.
func (b *Batch) Image() grid.Source { return b.Images }

// Keys returns the keys of the batch's name: the number of images, and those of the first one's problem.
func (b *Batch) Keys() []float64 { return append([]float64{float64(b.Len())}, b.keys...) }

// At returns the problem of image i, which is read into memory.
func (b *Batch) At(i int64) (*Problem, error) {
	f, ok := b.Images.FieldAt(i)
	if !ok {
		each, data := b.Images.Shape().Slices()/b.Len(), make([]byte, grid.TotalBytes(b.Images)/b.Len())
		if err := b.Images.ReadSlab(data, i*each, (i+1)*each); err != nil {
			return nil, err
		}
		var err error
		if f, err = grid.Trusted(b.Images.Image(), b.Images.Type(), data, b.Images.Ladder()); err != nil {
			return nil, err
		}
	}
	return b.changed(func(q *Problem) { q.Source, q.G = f, b.Upstream(i) }), nil
}

// Upstream returns the upstream gradient of image i: G for the first one. Others have its numbers in another order and
// with other signs, so that Steepest bounds the gradients of all images.
func (b *Batch) Upstream(i int64) []float64 {
	g := slices.Clone(b.G)
	if i == 0 {
		return g
	}
	rng := rand.New(rand.NewPCG(uint64(i), 0x62617463))
	rng.Shuffle(len(g), func(j, k int) { g[j], g[k] = g[k], g[j] })
	for j := range g {
		if rng.IntN(2) == 0 {
			g[j] = -g[j]
		}
	}
	return g
}

// An Answer is the soft curve and the gradients of L = Σ g_j χ(τ_j).
type Answer struct {
	Chi    []float64  // χ at each threshold
	DTau   []float64  // ∂L/∂τ
	DX     []float32  // ∂L/∂X, row-major; among equal voxels by the order of First
	DV     [3]float64 // ∂L/∂V, through u = V/|V|
	Lambda float64    // ∂L/∂λ
	Alpha  float64    // ∂L/∂α
}

// First reports whether the first of two voxels precedes the second. The order is by value in Y (in
// −Y for vertices), then by x, y and z. A cell belongs to the first of its voxels. (Comparisons
// along rows give the order by x: see doc/proofs/extrema.md.)
func First(v, w float32, x, y, z, ox, oy, oz int64) bool {
	switch {
	case v != w:
		return v < w
	case x != ox:
		return x < ox
	case y != oy:
		return y < oy
	}
	return z < oz
}

// U returns the direction of length 1, and the length of V.
func (p *Problem) U() (u [3]float64, norm float64) {
	norm = math.Sqrt(p.V[0]*p.V[0] + p.V[1]*p.V[1] + p.V[2]*p.V[2])
	for i := range u {
		u[i] = p.V[i] / norm
	}
	return u, norm
}

// Place returns the coordinate of voxel i along an axis of n voxels, relative to the centre of the
// image.
func Place(i, n int64) float64 { return float64(i) - float64(n-1)/2 }

// A Tilt holds the exact terms added to X along each axis: Y = X + (Row(y, z) + X[x]), with each
// sum rounded to float32.
type Tilt struct {
	X    []float32
	y, z float64 // per step
	h, d int64
}

// Tilt returns the terms of α⟨u, p⟩.
func (p *Problem) Tilt() Tilt {
	u, _ := p.U()
	s := p.Shape()
	t := Tilt{X: make([]float32, s.W), y: p.Alpha * u[1], z: p.Alpha * u[2], h: s.H, d: s.D}
	for x := range t.X {
		t.X[x] = float32(p.Alpha * u[0] * Place(int64(x), s.W))
	}
	return t
}

// Row returns the term of row y of plane z.
func (t Tilt) Row(y, z int64) float32 {
	return float32(float64(t.y*Place(y, t.h)) + float64(t.z*Place(z, t.d)))
}

// Tilted sets dst to a row of Y.
func (t Tilt) Tilted(dst, row []float32, y, z int64) {
	of := t.Row(y, z)
	dst, along := dst[:len(row)], t.X[:len(row)]
	for i, v := range row {
		dst[i] = float32(v + float32(of+along[i]))
	}
}

// Values returns all values of the image as float32.
func (p *Problem) Values() ([]float32, error) {
	f, err := grid.Load(p.Source)
	if err != nil {
		return nil, err
	}
	return f.Floats(), nil
}

// Y returns the tilted image, row-major.
func (p *Problem) Y() ([]float32, error) {
	values, err := p.Values()
	if err != nil {
		return nil, err
	}
	y, t, s := make([]float32, len(values)), p.Tilt(), p.Shape()
	for r := range s.D * s.H {
		t.Tilted(y[r*s.W:][:s.W], values[r*s.W:][:s.W], r%s.H, r/s.H)
	}
	return y, nil
}

// Direction completes an answer from the moment Σ c(p) G'(Y(p)) p about the centre of the image. It
// sets the gradients by α and by V, with the factor (I − uuᵀ)/|V| of u = V/|V|.
func (p *Problem) Direction(a *Answer, moment [3]float64) {
	u, norm := p.U()
	along := u[0]*moment[0] + u[1]*moment[1] + u[2]*moment[2]
	for i := range u {
		a.DV[i] = -p.Alpha * (moment[i] - along*u[i]) / norm
	}
	a.Alpha = -along
}

// Sigmoid returns σ = 1/(1+exp(−a)) and σ(1−σ), accurate to a few roundings of float64.
func Sigmoid(a float64) (s, slope float64) {
	e := math.Exp(-math.Abs(a))
	s = 1 / (1 + e)
	slope = e * s * s
	if a < 0 {
		s = e * s
	}
	return s, slope
}

// Check returns the reason why the problem has no answer, or nil.
func (p *Problem) Check() error {
	if len(p.Tau) == 0 || len(p.Tau) != len(p.G) {
		return fmt.Errorf("%d thresholds with %d upstream gradients: want as many, at least one", len(p.Tau), len(p.G))
	}
	_, norm := p.U()
	for _, v := range append([]float64{p.Lambda, p.Alpha, 1 / p.Lambda, 1 / norm, norm},
		append(append([]float64(nil), p.Tau...), p.G...)...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("thresholds, upstream gradients, λ, α or the direction: want finite numbers, λ " +
				"and the length of the direction not 0")
		}
	}
	if p.Lambda < 0 {
		return fmt.Errorf("λ is %v: want more than 0", p.Lambda)
	}
	if steepest := p.Steepest(); steepest > math.MaxFloat32 {
		return fmt.Errorf("λ is %.3g: gradients by the image reach %.3g, which is beyond float32: scale the "+
			"image up, and the thresholds with it", p.Lambda, steepest)
	}
	return nil
}

// mostChange is the largest change of χ by one voxel, up or down. A voxel that joins eight others
// at its corners has −7, the vertex below eight others 7.
const mostChange = 7

// Steepest bounds ∂L/∂X: the slope of a sigmoid is at most λ/4.
func (p *Problem) Steepest() (sum float64) {
	for _, g := range p.G {
		sum += math.Abs(g) * p.Lambda * (mostChange / 4.0)
	}
	return sum
}

// Inputs makes problems from names softecc/m=N/lambda=N/alpha=N/dir=N[/vertices=1]/of=IMAGE. The
// cost is one read of the image and one write of its gradient.
func Inputs() *fields.Questions[*Problem] {
	return &fields.Questions[*Problem]{
		Form: form(),
		Pose: pose,
		Fewer: func(keys []float64) [][]float64 {
			if keys[0] == 1 {
				return nil
			}
			return [][]float64{append([]float64{math.Ceil(keys[0] / 2)}, keys[1:]...)}
		},
		Weigh: func(_ *Problem, keys []float64, cost bench.Cost) bench.Cost {
			cost.Bytes += 4 * cost.Items
			if keys[4] == 1 {
				cost.Class = "vertices=1/" + cost.Class
			}
			f := form()
			cost.Class = fmt.Sprintf("m=%v/lambda=%s/alpha=%s/%s",
				keys[0], f.Value("lambda", keys[1]), f.Value("alpha", keys[2]), cost.Class)
			return cost
		},
	}
}

// Image returns the image of the problem.
func (p *Problem) Image() grid.Source { return p.Source }

// Keys returns the keys of the problem's name.
func (p *Problem) Keys() []float64 { return p.keys }

// Close closes the image.
func (p *Problem) Close() error { return grid.Close(p.Source) }

// form returns the form of the problems' names.
func form() name.Form {
	return name.Form{Kind: Name, Keys: []name.Key{
		{Key: "m", Doc: "thresholds, evenly spaced over the range of the levels", Min: 1, Max: 1 << 16, Default: 64},
		{Key: "lambda", Doc: "steepness λ times the range of the levels",
			Min: 1e-3, Max: 1 << 40, Default: 100, Real: true},
		{Key: "alpha",
			Doc: "rise of α⟨u, p⟩ from the middle to a corner along the diagonal, relative to the range of the levels",
			Min: 0, Max: 10, Default: 0.1, Real: true},
		{Key: "dir", Doc: "seed of the direction and of the upstream gradient", Min: 0, Max: 1 << 40, Default: 1},
		{Key: "vertices", Doc: "1: voxels are vertices, 0: voxels are top cells",
			Min: 0, Max: 1, Default: 0, Optional: true},
	}}
}

// pose makes the problem of an image and its keys.
func pose(s grid.Source, keys []float64) (*Problem, error) {
	l := s.Ladder()
	lo, hi := float64(l.Value(0)), float64(l.Value(l.Len()-1))
	span := hi - lo
	if span == 0 {
		span = 1 // one level: place the thresholds around it
		lo -= 0.5
	}
	if span > math.MaxFloat32/1e6 {
		return nil, fmt.Errorf("levels from %g to %g: λ and the thresholds are spread over them; give --levels", lo, hi)
	}
	p := &Problem{Source: s, Lambda: keys[1] / span, Vertices: keys[4] == 1, keys: keys}
	shape := s.Shape()
	half := math.Hypot(math.Hypot(Place(0, shape.W), Place(0, shape.H)), Place(0, shape.D))
	p.Alpha = keys[2] * span / max(half, 0.5)
	rng := rand.New(rand.NewPCG(uint64(keys[3]), 0x736f6674656363))
	for i := range p.V {
		p.V[i] = 1.5 * rng.NormFloat64()
	}
	if shape.D == 1 {
		p.V[2] = 0 // the direction of a 2D image is in its plane
	}
	m := int64(keys[0])
	for j := range m {
		p.Tau = append(p.Tau, lo+span*(float64(j)+0.5)/float64(m))
		p.G = append(p.G, rng.NormFloat64())
	}
	return p, p.Check()
}

// Encode writes the number of thresholds, all float64 numbers, and then ∂L/∂X.
func Encode(w io.Writer, a Answer) error {
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(a.Chi)))
	for _, list := range [][]float64{a.Chi, a.DTau, a.DV[:], {a.Lambda, a.Alpha}} {
		for _, v := range list {
			head = binary.LittleEndian.AppendUint64(head, math.Float64bits(v))
		}
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	const part = 1 << 16
	buf := make([]byte, 0, 4*part)
	for at := 0; at < len(a.DX); at += part {
		buf = buf[:0]
		for _, v := range a.DX[at:min(at+part, len(a.DX))] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// Decode is the inverse of Encode.
func Decode(b []byte) (a Answer, err error) {
	const least = 8 * 6 // bytes of an answer without thresholds and voxels
	if len(b) < least || (len(b)-least)%4 != 0 {
		return a, errors.New("malformed answer")
	}
	m := binary.LittleEndian.Uint64(b)
	if m > uint64(len(b)-least)/16 {
		return a, errors.New("malformed answer")
	}
	b = b[8:]
	next := func() float64 {
		v := math.Float64frombits(binary.LittleEndian.Uint64(b))
		b = b[8:]
		return v
	}
	a.Chi, a.DTau = make([]float64, m), make([]float64, m)
	for _, list := range [][]float64{a.Chi, a.DTau, a.DV[:]} {
		for i := range list {
			list[i] = next()
		}
	}
	a.Lambda, a.Alpha = next(), next()
	a.DX = make([]float32, len(b)/4)
	for i := range a.DX {
		a.DX[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return a, nil
}
