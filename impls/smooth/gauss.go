package smooth

import (
	"math"
	"sync"
)

// Radius is how far the kernel reaches: it is 13 pixels wide (Wang et al. 2022,
// section 5.3, who do not say its standard deviation; 2 puts its end at three).
const Radius = 6

// Weights are those of the pixel and of its neighbours at 1 to Radius, the
// float32 nearest to exp(−k²/8) over the sum of all 13.
func Weights() [Radius + 1]float32 {
	return [Radius + 1]float32{0x1.98ef8a0000000p-3, 0x1.68e26c0000000p-3, 0x1.f010660000000p-4, 0x1.0986220000000p-4, 0x1.babf560000000p-6, 0x1.1f7a640000000p-7, 0x1.22be4e0000000p-9}
}

// One smoothing is two passes, along x and then along y, in which every pixel
// becomes
//
//	w₀·v₀, plus w₁·(v₋₁+v₁), plus w₂·(v₋₂+v₂), … in this order,
//
// every product and sum rounded to float32, with the nearest pixel of the image
// where there is none, and in the end not above the top of the ladder, so that
// every pixel stays on a level.

// plain smooths as the definition says, pixel by pixel; it is what others are
// held to. It uses all cores, a strip of rows each.
func plain(dst, src, between []float32, width, height int64, top float32, cores int) {
	w := Weights()
	share(cores, height, func(lo, hi int64) {
		for y := lo; y < hi; y++ {
			row := src[y*width:][:width]
			for x := range width {
				between[y*width+x] = pixel(row, 1, x, width, &w)
			}
		}
	})
	share(cores, height, func(lo, hi int64) {
		for y := lo; y < hi; y++ {
			for x := range width {
				dst[y*width+x] = min(pixel(between[x:], width, y, height, &w), top)
			}
		}
	})
}

// pixel is pixel at of a line of n, which are so many places from each other.
func pixel(line []float32, stride, at, n int64, w *[Radius + 1]float32) float32 {
	sum := float32(w[0] * line[at*stride])
	if at >= Radius && at < n-Radius {
		for k := int64(1); k <= Radius; k++ {
			sum += float32(w[k] * (line[(at-k)*stride] + line[(at+k)*stride]))
		}
		return sum
	}
	for k := int64(1); k <= Radius; k++ {
		sum += float32(w[k] * (line[max(at-k, 0)*stride] + line[min(at+k, n-1)*stride]))
	}
	return sum
}

// A smoother smooths by rows: along x in a row that is extended at both ends,
// along y 13 rows at a time.
type smoother struct {
	width, height int64
	top           float32
	cores         int
	between       []float32
	rows          [][]float32 // extended, one for each core
}

func newSmoother(width, height int64, top float32, cores int) *smoother {
	s := &smoother{width: width, height: height, top: top, cores: cores, between: make([]float32, width*height)}
	for range cores {
		s.rows = append(s.rows, make([]float32, width+2*Radius))
	}
	return s
}

// smooth sets dst to src smoothed.
func (s *smoother) smooth(dst, src []float32) {
	var core sync.Mutex
	next := 0
	share(s.cores, s.height, func(lo, hi int64) {
		core.Lock()
		row := s.rows[next]
		next++
		core.Unlock()
		for y := lo; y < hi; y++ {
			s.along(s.between[y*s.width:][:s.width], src[y*s.width:][:s.width], row)
		}
	})
	share(s.cores, s.height, func(lo, hi int64) {
		for y := lo; y < hi; y++ {
			s.across(dst[y*s.width:][:s.width], y)
		}
	})
}

func (s *smoother) along(dst, src, row []float32) {
	for i := range Radius {
		row[i], row[Radius+len(src)+i] = src[0], src[len(src)-1]
	}
	copy(row[Radius:], src)
	weigh(dst, func(k int64) []float32 { return row[Radius+k:][:len(dst)] }, float32(math.Inf(1)))
}

func (s *smoother) across(dst []float32, y int64) {
	weigh(dst, func(k int64) []float32 {
		return s.between[min(max(y+k, 0), s.height-1)*s.width:][:len(dst)]
	}, s.top)
}

// weigh sets dst to the weighted sum of the rows v(k), |k| ≤ Radius, but at most
// to top.
func weigh(dst []float32, v func(k int64) []float32, top float32) {
	w := Weights()
	a1, b1, a2, b2, a3, b3 := v(-1), v(1), v(-2), v(2), v(-3), v(3)
	a4, b4, a5, b5, a6, b6 := v(-4), v(4), v(-5), v(5), v(-6), v(6)
	for x, mid := range v(0) {
		sum := float32(w[0] * mid)
		sum += float32(w[1] * (a1[x] + b1[x]))
		sum += float32(w[2] * (a2[x] + b2[x]))
		sum += float32(w[3] * (a3[x] + b3[x]))
		sum += float32(w[4] * (a4[x] + b4[x]))
		sum += float32(w[5] * (a5[x] + b5[x]))
		sum += float32(w[6] * (a6[x] + b6[x]))
		dst[x] = min(sum, top)
	}
}

// share splits n rows among so many goroutines.
func share(cores int, n int64, work func(lo, hi int64)) {
	parts := max(1, min(int64(cores), n))
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { work(n*p/parts, n*(p+1)/parts) })
	}
	wg.Wait()
}
