package gvf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// A box is a block of voxels: from ≤ position < to along x, y and z.
type box struct{ from, to [3]int64 }

// shape is the extent of a box.
func (b box) shape() grid.Shape {
	return grid.Shape{D: b.to[2] - b.from[2], H: b.to[1] - b.from[1], W: b.to[0] - b.from[0]}
}

// enlarged returns the box with a margin of far voxels, clipped to the image.
func (b box) enlarged(far int64, sides [3]int64) box {
	for a, n := range sides {
		b.from[a], b.to[a] = max(0, b.from[a]-far), min(n, b.to[a]+far)
	}
	return b
}

// The boxes with their margins cover at most 1/boxShare of an image, or littleVoxels if that is
// more. There are at most mostBoxes.
const boxShare, mostBoxes, littleVoxels = 16, 24, 1 << 17

// sides returns the size of the image along x, y and z.
func (p *Problem) sides() [3]int64 {
	s := p.Shape()
	return [3]int64{s.W, s.H, s.D}
}

// boxes returns boxes at the corners of an image and at places drawn from a seed. Boxes grow with
// the steps, because their margins do. There are none if they would cover a large part of the
// image.
func (p *Problem) boxes(seed uint64) (list []box) {
	sides, corners := p.sides(), 1<<p.Dim()
	least := corners + 4
	may, count, side := max(p.Shape().Voxels()/boxShare, littleVoxels), 0, max(32, 4*p.Steps)
	for ; side >= 8 && count < least; side /= 2 {
		around := int64(1)
		for _, n := range sides {
			around *= min(n, side+2*(p.Steps+1))
		}
		if count = int(min(mostBoxes, may/around)); count >= least {
			break
		}
	}
	if count < least {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for k := range count {
		var b box
		for a, n := range sides {
			extent := min(n, side)
			switch {
			case k >= corners:
				b.from[a] = rng.Int64N(n - extent + 1)
			case k>>a&1 > 0:
				b.from[a] = n - extent
			}
			b.to[a] = b.from[a] + extent
		}
		list = append(list, b)
	}
	return list
}

// plainBoxes compares a field after N steps with the plain loop in boxes, bit for bit. A box
// depends only on voxels within N+1 of it: one for each step, and one for the gradient. A field
// with few wrong values may be right in all boxes.
func plainBoxes() verify.Law[*Problem, Flow] {
	seed := rand.Uint64()
	return law{
		Name: "the plain loop in boxes, bit for bit", Note: fmt.Sprintf("all corners, and places of seed %#x", seed),
		Drawn: true, Independent: true,
		Work:  func(p *Problem) time.Duration { return p.boxesTake(p.boxes(seed)) },
		Check: func(p *Problem, out Flow, _ ask) (*verify.Diff, error) { return p.inBoxes(p.boxes(seed), out) },
	}
}

// boxesTake estimates the time of the law. If it does not apply, that is the time of the whole image, so that no plan
// relies on the law.
func (p *Problem) boxesTake(boxes []box) time.Duration {
	if len(boxes) == 0 || p.Mask != nil {
		return stepCost(startNS, stepNS)(p)
	}
	took := stepCost(scaleNS, 0)(p)
	for _, b := range boxes {
		q := *p
		q.Source = boxed{p.Source, b.enlarged(p.Steps+1, p.sides()).shape()}
		took += stepCost(startNS, stepNS)(&q)
	}
	return took
}

// scaleNS is the estimated time to scan one voxel for the least and the greatest value.
const scaleNS = 10

// A boxed image reports the shape of a box. Its values are not read.
type boxed struct {
	grid.Source
	shape grid.Shape
}

func (b boxed) Shape() grid.Shape { return b.shape }

// inBoxes is the first value in boxes that has other bits than by the plain loop.
func (p *Problem) inBoxes(boxes []box, out Flow) (*verify.Diff, error) {
	if len(boxes) == 0 || p.Mask != nil {
		return nil, verify.ErrNotApplicable
	}
	if d := p.misshapen(out); d != nil {
		return d, nil
	}
	var scaled func(i int64) float32
	if p.V0 == nil {
		values, err := p.values()
		if err != nil {
			return nil, err
		}
		extent := p.extentOf(values)
		scaled = func(i int64) float32 { return extent.normalised(values.at(int(i))) }
	}
	for _, b := range boxes {
		around := b.enlarged(p.Steps+1, p.sides())
		q := p.Flowing(p.startIn(around, scaled), p.Steps)
		q.Source, q.Storage = boxed{p.Source, around.shape()}, p.Storage
		want, err := Define(q, 0)
		if d := p.differs(b, around, want, out); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

// startIn returns V0 of a box, as if the image ended at the sides of the box.
func (p *Problem) startIn(b box, scaled func(i int64) float32) [][]float32 {
	cut := func(at func(i int64) float32) []float32 {
		list, s := make([]float32, 0, b.shape().Voxels()), p.Shape()
		for z := b.from[2]; z < b.to[2]; z++ {
			for y := b.from[1]; y < b.to[1]; y++ {
				for x := b.from[0]; x < b.to[0]; x++ {
					list = append(list, at((z*s.H+y)*s.W+x))
				}
			}
		}
		return list
	}
	if p.V0 == nil {
		return gradient(b.shape(), cut(scaled))
	}
	v0 := make([][]float32, len(p.V0))
	for c, list := range p.V0 {
		v0[c] = cut(func(i int64) float32 { return list[i] })
	}
	return v0
}

// differs returns the first value of a box that differs from the field computed around it.
func (p *Problem) differs(b, around box, want, got Flow) *verify.Diff {
	s, of := p.Shape(), around.shape()
	for c := range want.V {
		for z := b.from[2]; z < b.to[2]; z++ {
			for y := b.from[1]; y < b.to[1]; y++ {
				for x := b.from[0]; x < b.to[0]; x++ {
					i := (z*s.H+y)*s.W + x
					j := ((z-around.from[2])*of.H+y-around.from[1])*of.W + x - around.from[0]
					if v, w := want.V[c][j], got.V[c][i]; math.Float32bits(v) != math.Float32bits(w) {
						return &verify.Diff{Where: p.place(c, int(i)), Want: number(v), Got: number(w)}
					}
				}
			}
		}
	}
	return nil
}
