package gvf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// A box is voxels of an image: places from the first on and before the last, of each axis x, y
// and z.
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

// Boxes with what is around them are a share of the image, and as many as fit it; of a small
// image all of them may be so many voxels.
const boxShare, mostBoxes, littleVoxels = 16, 24, 1 << 17

// sides are those of the image, along x, y and z.
func (p *Problem) sides() [3]int64 {
	s := p.Shape()
	return [3]int64{s.W, s.H, s.D}
}

// boxes are at the corners of an image, and at places that a seed draws. They are the larger,
// the more steps there are, for what is around a box is as wide; there are none where they with
// that would be no small part of the image.
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

// PlainBoxes holds a field after some steps to the bits of the plain loop in boxes: those of a
// box follow from what is at most as many voxels from it as there are steps, and one more for
// the gradient. A field that is wrong here and there only may be right in all of them.
func PlainBoxes() verify.Law[*Problem, Flow] {
	seed := rand.Uint64()
	return law{
		Name: "the plain loop in boxes, bit for bit", Note: fmt.Sprintf("all corners, and places of seed %#x", seed), Drawn: true, Independent: true,
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

// scaleNS is what it takes to find the extent of a voxel's values.
const scaleNS = 10

// A boxed image is one of which no more than a shape is asked.
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

// startIn is V0 of a box, at whose sides it is that of an image which ends there.
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

// differs is the first value of a box that is another in the field of what is around it.
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
