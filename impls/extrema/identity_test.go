package extrema_test

import (
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// An array is an image of any dimension, the last axis the fastest. It does not use package grid,
// because the identity is about numbers alone.
type array struct {
	shape  []int
	values []float64
}

// none means no family of rows.
const none = -1

// outside is the value outside an image.
var outside = math.Inf(1)

// steps returns the distance in memory of two neighbours along each axis.
func (a array) steps() []int {
	steps := make([]int, len(a.shape))
	n := 1
	for i := len(a.shape) - 1; i >= 0; i-- {
		steps[i] = n
		n *= a.shape[i]
	}
	return steps
}

// padded returns the array with a border of one outside value on every side.
func (a array) padded() array {
	p := array{shape: make([]int, len(a.shape))}
	n := 1
	for i, s := range a.shape {
		p.shape[i] = s + 2
		n *= s + 2
	}
	p.values = make([]float64, n)
	for i := range p.values {
		p.values[i] = outside
	}
	steps := p.steps()
	for i, v := range a.values {
		at, left := 0, i
		for axis := len(a.shape) - 1; axis >= 0; axis-- {
			at += (left%a.shape[axis] + 1) * steps[axis]
			left /= a.shape[axis]
		}
		p.values[at] = v
	}
	return p
}

// cells counts every cell of the complex at the least value of the voxels that contain it, with the
// sign of its dimension. A cell is a point of a grid of twice the size: even coordinates are
// between voxels, odd ones within them.
func cells(a array) map[float64]int {
	changes := map[float64]int{}
	p := a.padded()
	steps := p.steps()
	at := make([]int, len(a.shape)) // on the grid of 2n+1 points per axis
	for {
		least, dimension := outside, 0
		for corner := range 1 << len(at) { // of the voxels around it, some twice
			voxel := 0
			for axis, c := range at {
				k := (c + 1) / 2 // the voxel of an odd coordinate, or the later one
				if c%2 == 0 {
					k += corner >> axis & 1
				}
				voxel += k * steps[axis]
			}
			least = min(least, p.values[voxel])
		}
		for _, c := range at {
			dimension += c % 2
		}
		changes[least] += 1 - 2*(dimension%2)
		axis := len(at) - 1
		for ; axis >= 0; axis-- {
			if at[axis]++; at[axis] <= 2*a.shape[axis] {
				break
			}
			at[axis] = 0
		}
		if axis < 0 {
			return changes
		}
	}
}

// local counts the local extrema of the rows of every min-filtered image, as in the identity. For
// the family of rows turned it inverts the sign.
func local(a array, turned int) map[float64]int {
	changes := map[float64]int{}
	p := a.padded()
	d, steps := len(a.shape), p.steps()
	for filter := range 1 << (d - 1) { // a set of the axes before the last
		s := append([]float64(nil), p.values...)
		for axis := range d - 1 {
			if filter>>axis&1 == 1 { // ascending, so that the successor is still unfiltered
				for i := 0; i+steps[axis] < len(s); i++ {
					s[i] = min(s[i], s[i+steps[axis]])
				}
			}
		}
		sign := 1 - 2*((d-bits.OnesCount(uint(filter)))%2)
		if filter == turned {
			sign = -sign
		}
		row := p.shape[d-1]
		for i := range s {
			if i%row+1 < row && s[i] > s[i+1] {
				changes[s[i]] += sign
				changes[s[i+1]] -= sign
			}
		}
	}
	return changes
}

// drawn returns a small array with many ties, of one to four dimensions.
func drawn(t *rapid.T) array {
	d := rapid.IntRange(1, 4).Draw(t, "dimensions")
	a := array{shape: rapid.SliceOfN(rapid.IntRange(1, []int{0, 30, 9, 6, 4}[d]), d, d).Draw(t, "shape")}
	n := 1
	for _, s := range a.shape {
		n *= s
	}
	levels := rapid.IntRange(1, 9).Draw(t, "levels")
	for _, v := range rapid.SliceOfN(rapid.IntRange(1, levels), n, n).Draw(t, "values") {
		a.values = append(a.values, float64(v))
	}
	return a
}

// answer removes the changes at infinity and the changes of 0.
func answer(changes map[float64]int) map[float64]int {
	maps.DeleteFunc(changes, func(v float64, n int) bool { return v == outside || n == 0 })
	return changes
}

func TestIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawn(t)
		want, got := answer(cells(a)), answer(local(a, none))
		if !maps.Equal(want, got) {
			t.Fatalf("%v: all cells give %v, the extrema %v", a, want, got)
		}
	})
}

// The check can fail: it fails if the sign of any one family of rows is inverted, in every
// dimension.
func TestIdentityNeedsEverySign(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for d := 1; d <= 4; d++ {
		a := array{shape: []int{4, 4, 4, 4}[:d], values: make([]float64, 1<<(2*d))}
		for i := range a.values {
			a.values[i] = float64(rng.IntN(9))
		}
		want := answer(cells(a))
		if got := answer(local(a, none)); !maps.Equal(want, got) {
			t.Fatalf("%v: all cells give %v, the extrema %v", a, want, got)
		}
		for family := range 1 << (d - 1) {
			if maps.Equal(want, answer(local(a, family))) {
				t.Errorf("dimension %d: the sign of family %b makes no difference", d, family)
			}
		}
	}
}
