package images

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
)

// The sizes of a picture of a field: the longer side and the distance of arrows, both in pixels,
// and the shortest vector with an arrow.
const (
	pictureSide  = 1024
	arrowsApart  = 20
	shortestSeen = 1e-6 // as a share of the longest vector
)

// A picture shows a plane of a field: grey values for the magnitudes, and arrows along the vectors.
type picture struct {
	*image.RGBA
	width, height int // of the plane, in voxels
	scale         float64
	x, y          []float32
}

// drawField writes a picture of a field as PNG; of a volume it shows the middle slice. The lightest
// grey is the largest magnitude. Grey values grow with the square root of the magnitude, so that
// weak parts are visible. All arrows have one length: they show the direction alone.
func drawField(w io.Writer, s grid.Shape, f gvf.Flow) error {
	middle := s.D / 2 * s.W * s.H
	plane := func(c int) []float32 { return f.V[c][middle:][:s.W*s.H] }
	p := picture{width: int(s.W), height: int(s.H), x: plane(0), y: plane(1)}
	p.scale = pictureSide / float64(max(p.width, p.height))
	if p.scale > 1 {
		p.scale = math.Floor(p.scale)
	}
	side := func(n int) int { return max(1, int(math.Round(float64(n)*p.scale))) }
	p.RGBA = image.NewRGBA(image.Rect(0, 0, side(p.width), side(p.height)))
	longest := 0.0
	length := func(i int) float64 {
		sum := 0.0
		for c := range f.V {
			v := float64(f.V[c][int(middle)+i])
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	for i := range p.x {
		longest = max(longest, length(i))
	}
	size := p.Rect.Size()
	for v := range size.Y {
		for u := range size.X {
			grey := uint8(0)
			if longest > 0 {
				grey = uint8(math.Round(255 * math.Sqrt(length(p.voxel(u, v))/longest)))
			}
			p.Set(u, v, color.RGBA{grey, grey, grey, 0xff})
		}
	}
	for v := arrowsApart / 2; v < size.Y; v += arrowsApart {
		for u := arrowsApart / 2; u < size.X; u += arrowsApart {
			i := p.voxel(u, v)
			dx, dy := float64(p.x[i]), float64(p.y[i])
			if l := math.Hypot(dx, dy); l > shortestSeen*longest {
				p.arrow(float64(u), float64(v), dx/l, dy/l)
			}
		}
	}
	return png.Encode(w, p)
}

// voxel returns the index of the voxel at a pixel.
func (p *picture) voxel(u, v int) int {
	at := func(u, n int) int { return min(n-1, int((float64(u)+0.5)/p.scale)) }
	return at(v, p.height)*p.width + at(u, p.width)
}

// arrow draws an arrow whose middle is at (u, v) along a direction.
func (p *picture) arrow(u, v, dx, dy float64) {
	const half, head = 0.4 * arrowsApart, 0.2 * arrowsApart
	tip := [2]float64{u + half*dx, v + half*dy}
	p.line(u-half*dx, v-half*dy, tip[0], tip[1])
	for _, side := range []float64{1, -1} {
		p.line(tip[0], tip[1], tip[0]-head*(dx-side*0.6*dy), tip[1]-head*(dy+side*0.6*dx))
	}
}

func (p *picture) line(u, v, to, down float64) {
	steps := math.Ceil(2 * max(math.Abs(to-u), math.Abs(down-v), 1))
	for k := 0.0; k <= steps; k++ {
		p.Set(int(math.Round(u+(to-u)*k/steps)), int(math.Round(v+(down-v)*k/steps)), color.RGBA{0xff, 0x90, 0x20, 0xff})
	}
}
