package smooth

import (
	"math"
	"sync"

	"eccbench/internal/workloads/smooth"
)

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
		s.rows = append(s.rows, make([]float32, width+2*smooth.Radius))
	}
	return s
}

// smooth sets dst to src smoothed.
func (s *smoother) smooth(dst, src []float32) {
	var core sync.Mutex
	next := 0
	smooth.Share(s.cores, s.height, func(lo, hi int64) {
		core.Lock()
		row := s.rows[next]
		next++
		core.Unlock()
		for y := lo; y < hi; y++ {
			s.smoothRow(s.between[y*s.width:][:s.width], src[y*s.width:][:s.width], row)
		}
	})
	smooth.Share(s.cores, s.height, func(lo, hi int64) {
		for y := lo; y < hi; y++ {
			s.smoothColumns(dst[y*s.width:][:s.width], y)
		}
	})
}

func (s *smoother) smoothRow(dst, src, row []float32) {
	for i := range smooth.Radius {
		row[i], row[smooth.Radius+len(src)+i] = src[0], src[len(src)-1]
	}
	copy(row[smooth.Radius:], src)
	weigh(dst, func(k int64) []float32 { return row[smooth.Radius+k:][:len(dst)] }, float32(math.Inf(1)))
}

func (s *smoother) smoothColumns(dst []float32, y int64) {
	weigh(dst, func(k int64) []float32 {
		return s.between[min(max(y+k, 0), s.height-1)*s.width:][:len(dst)]
	}, s.top)
}

// weigh sets dst to the weighted sum of the rows v(k), |k| ≤ smooth.Radius, but at most
// to top.
func weigh(dst []float32, v func(k int64) []float32, top float32) {
	w := smooth.Weights()
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
