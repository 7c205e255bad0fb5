package ask

import (
	"context"
	"fmt"
	"unsafe"

	"eccbench/impls/softecc/binned"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/softecc"
)

// A Soft requests the soft curves of images in memory, and then their gradients.
type Soft struct {
	Shape   []int64 `json:"shape"` // of each image, 1 to 3 axes, the slowest first
	Type    string  `json:"type"`  // of the voxels: float32 or float64
	Images  int     `json:"images"`
	Threads int     `json:"threads"`

	Construction string    `json:"construction"` // T or V
	Thresholds   []float64 `json:"thresholds"`
	Lambda       float64   `json:"lambda"`
	Alpha        float64   `json:"alpha"`
	Direction    []float64 `json:"direction"` // in the order of the axes of the shape, of any length; not 0
	// Backward requests gradients. The curves of the images must have been computed before.
	Backward    bool `json:"backward"`
	Derivatives bool `json:"derivatives"` // also return the derivatives of the curve by the thresholds and by λ
}

// SoftMemory is the caller's memory. Each field holds the data of all images, one after the other.
type SoftMemory struct {
	Voxels  []byte // read only
	Changes []byte // a byte per voxel, written forward and read backward
	// Numbers are written forward: χ of each threshold and, on request, its derivatives by the
	// thresholds and by λ. Backward they are read: the upstream gradient of each threshold.
	Numbers []float64
	// Gradient is the gradient by the voxels, of their type; backward.
	Gradient []byte
	// Parameters are the gradients by the direction, along x, y and z, and by α; backward.
	Parameters []float64
}

// Brief reports whether an answer takes a few milliseconds.
func (q Soft) Brief() bool {
	const voxels, numbers = 1 << 18, 1 << 15
	n := int64(q.Images)
	for _, k := range q.Shape {
		if k < 1 || n < 1 || k > voxels/n {
			return false
		}
		n *= k
	}
	return q.Type == "float32" && q.Images*len(q.Thresholds) <= numbers
}

// Answer computes the curves or the gradients, and writes them to memory.
func (q Soft) Answer(ctx context.Context, m SoftMemory) error {
	shape, err := grid.ShapeOf(q.Shape)
	if err != nil {
		return err
	}
	if q.Images < 1 {
		return fmt.Errorf("%d images: want at least 1", q.Images)
	}
	if err := crew.CheckThreads(q.Threads); err != nil {
		return err
	}
	if err := (Options{Construction: q.Construction}).Check(); err != nil {
		return err
	}
	if len(q.Direction) != len(q.Shape) {
		return fmt.Errorf("a direction of %d numbers: want one for each of %d axes", len(q.Direction), len(q.Shape))
	}
	p := &softecc.Problem{
		Source: binned.Blank(shape), Tau: q.Thresholds, Lambda: q.Lambda, Alpha: q.Alpha,
		Vertices: q.Construction == "V",
	}
	for i, v := range q.Direction {
		p.V[len(q.Direction)-1-i] = v
	}
	p.G = make([]float64, len(p.Tau))
	if err := p.Check(); err != nil {
		return err
	}
	switch q.Type {
	case "float32":
		return softCurves[float32](ctx, q, m, p)
	case "float64":
		return softCurves[float64](ctx, q, m, p)
	}
	return fmt.Errorf("type %q: want float32 or float64", q.Type)
}

func softCurves[T float32 | float64](ctx context.Context, r Soft, m SoftMemory, p *softecc.Problem) error {
	n, per, perNumbers := int(p.Shape().Voxels()), int(unsafe.Sizeof(T(0))), len(p.Tau)
	if r.Derivatives && !r.Backward {
		perNumbers *= 3
	}
	switch {
	case len(m.Voxels) != r.Images*n*per:
		return fmt.Errorf("voxels of %d bytes: want %d of %d × %v %s",
			len(m.Voxels), r.Images*n*per, r.Images, p.Shape(), r.Type)
	case len(m.Changes) != r.Images*n:
		return fmt.Errorf("changes of %d bytes: want %d", len(m.Changes), r.Images*n)
	case len(m.Numbers) != r.Images*perNumbers:
		return fmt.Errorf("%d numbers: want %d", len(m.Numbers), r.Images*perNumbers)
	case r.Backward && len(m.Gradient) != len(m.Voxels):
		return fmt.Errorf("a gradient of %d bytes: want %d", len(m.Gradient), len(m.Voxels))
	case r.Backward && len(m.Parameters) != r.Images*4:
		return fmt.Errorf("%d gradients of parameters: want %d", len(m.Parameters), r.Images*4)
	}
	layers := binned.Layers[T]{
		Problem: p, Voxels: grid.Values[T](m.Voxels), Changes: m.Changes, Images: r.Images, Threads: r.Threads,
		Slopes: r.Backward,
	}
	return layers.Each(func(i int, l *binned.Layer[T]) error {
		numbers := m.Numbers[i*perNumbers:][:perNumbers]
		if !r.Backward {
			m := len(p.Tau)
			c := binned.Curve{Chi: numbers[:m]}
			if r.Derivatives {
				c.ByTau, c.ByLambda = numbers[m:2*m], numbers[2*m:]
			}
			return l.Forward(ctx, c)
		}
		l.Problem.G = numbers
		v, alpha, err := l.Backward(ctx, grid.Values[T](m.Gradient[i*n*per:][:n*per]))
		copy(m.Parameters[4*i:], []float64{v[0], v[1], v[2], alpha})
		return err
	})
}
