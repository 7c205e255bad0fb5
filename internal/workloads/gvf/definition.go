package gvf

import (
	"math"
	"runtime"
	"slices"
	"unsafe"

	"eccbench/internal/grid"
)

// Define computes the flow by the plain loop, on threads goroutines (0: one for each core). It
// shares no code with Start or with the steps of implementations; its vector instructions
// (internal/asm/flow) are written from these lines:
//
//	f    = float32((value − least)/(greatest − least)), in float64; 0 where all are equal
//	V0   = ½ (f(next) − f(before)) along x, y and z, the border repeated
//	b    = (V0x·V0x + V0y·V0y) + V0z·V0z
//	s    = ((x⁻ + x⁺) + (y⁻ + y⁺)) + (z⁻ + z⁺) of V, the boundary's neighbours at the border
//	V'   = V + (μ·(s − 2d·V) − (V − V0)·b), for each component
//
// In 2D there is no z, and 2d is 4. Each operation is rounded to float32 separately, in this order;
// no multiplication is fused with an addition. Within a mask, a neighbour in another part is
// replaced by the voxel itself, for f and for V. least and greatest are those of the inside, and
// the field outside is 0.
func Define(p *Problem, threads int) (Flow, error) {
	if p.Storage != Float32 {
		return p.defineKept(threads)
	}
	v0, b, err := p.definedStart()
	if err != nil {
		return Flow{}, err
	}
	f := Flow{V: make([][]float32, len(v0))}
	var v pair[float32]
	for c := range v0 {
		f.V[c], v[0] = v.evolve(p, v0[c], b, p.Steps, threads), nil
	}
	return f, nil
}

// Stored is the flow by the plain loop where each number is kept in another format after each
// step, such as one of 16 bits.
func Stored(p *Problem, keep func(float32) float32) (Flow, error) {
	v0, b, err := p.definedStart()
	if err != nil {
		return Flow{}, err
	}
	f, rows := p.zeros(), p.Shape().D*p.Shape().H
	for c := range v0 {
		v, next := append([]float32(nil), v0[c]...), f.V[c]
		for range p.Steps {
			inParts(rows, runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
				sweep(p, next, v, v0[c], b, lo, hi)
				for i, u := range next[lo*p.Shape().W : hi*p.Shape().W] {
					next[lo*p.Shape().W+int64(i)] = keep(u)
				}
			})
			v, next = next, v
		}
		f.V[c] = v
	}
	return f, nil
}

// definedStart is V0 and b.
func (p *Problem) definedStart() (v0 [][]float32, b []float32, err error) {
	if v0 = p.V0; v0 == nil {
		image, err := p.normalised()
		if err != nil {
			return nil, nil, err
		}
		if p.Mask == nil {
			v0 = gradient(p.Shape(), image)
		} else {
			v0 = p.gradientWithin(image)
		}
		b = image // which is not needed any more
	}
	if b == nil {
		b = grid.NewValues[float32](int64(len(v0[0])))
	}
	inParts(int64(len(b)), runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			sum := float32(v0[0][i]*v0[0][i]) + float32(v0[1][i]*v0[1][i])
			if len(v0) > 2 {
				sum = sum + float32(v0[2][i]*v0[2][i])
			}
			b[i] = sum
		}
	})
	return v0, b, nil
}

// normalised returns the image from 0 to 1.
func (p *Problem) normalised() ([]float32, error) {
	values, err := p.values()
	if err != nil {
		return nil, err
	}
	extent := p.extentOf(values)
	f := grid.NewValues[float32](int64(values.n))
	inParts(int64(len(f)), runtime.GOMAXPROCS(0), func(_ int, from, to int64) {
		for i := int(from); i < int(to); i++ {
			if p.inside(i) {
				f[i] = extent.normalised(values.at(i))
			}
		}
	})
	return f, nil
}

// An extent is the least and the greatest of an image's values.
type extent struct{ least, greatest float64 }

func (p *Problem) extentOf(values list) extent {
	parts := make([]extent, runtime.GOMAXPROCS(0))
	inParts(int64(values.n), len(parts), func(part int, from, to int64) {
		e := extent{math.Inf(1), math.Inf(-1)}
		for i := int(from); i < int(to); i++ {
			if p.inside(i) {
				v := values.at(i)
				e = extent{min(e.least, v), max(e.greatest, v)}
			}
		}
		parts[part] = e
	})
	all := parts[0]
	for _, e := range parts {
		all = extent{min(all.least, e.least), max(all.greatest, e.greatest)}
	}
	return all
}

// normalised returns a value from 0 to 1.
func (e extent) normalised(v float64) float32 {
	if e.greatest <= e.least {
		return 0
	}
	part := 1.0
	if math.IsInf(e.greatest-e.least, 1) { // a range that float64 does not hold
		part = 0.5
	}
	return float32((part*v - part*e.least) / (part*e.greatest - part*e.least))
}

// A list of an image's values as numbers.
type list struct {
	n  int
	at func(i int) float64
}

// values returns the values of the image, row-major, from its table if it has one, from the
// least integer in the mask on.
func (p *Problem) values() (list, error) {
	f, err := grid.Load(p.Source)
	if err != nil {
		return list{}, err
	}
	values, labels := f.Floats(), grid.LabelsOf(p.Source)
	if labels == nil {
		return list{len(values), func(i int) float64 { return float64(values[i]) }}, nil
	}
	least := slices.Max(values)
	for i, v := range values {
		if v < least && p.inside(i) {
			least = v
		}
	}
	return list{len(values), func(i int) float64 { return labels.Shifted(values[i], least) }}, nil
}

// gradient returns the gradient by central differences.
func gradient(s grid.Shape, f []float32) [][]float32 {
	v0 := lists(s.Dim(), int64(len(f)))
	inParts(s.D*s.H, runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
		for r := lo; r < hi; r++ {
			gradientOf(s, f, v0, r/s.H, r%s.H)
		}
	})
	return v0
}

// gradientOf sets the gradient of a row.
func gradientOf(s grid.Shape, f []float32, v0 [][]float32, z, y int64) {
	row := func(f []float32, z, y int64) []float32 {
		return f[(max(0, min(z, s.D-1))*s.H+max(0, min(y, s.H-1)))*s.W:][:s.W]
	}
	difference := func(to, before, after []float32) {
		before, after = before[:len(to)], after[:len(to)]
		for x := range to {
			to[x] = 0.5 * (after[x] - before[x])
		}
	}
	here, along := row(f, z, y), row(v0[0], z, y)
	for _, x := range []int64{0, s.W - 1} {
		along[x] = 0.5 * (here[min(x+1, s.W-1)] - here[max(x-1, 0)])
	}
	if s.W > 2 {
		difference(along[1:s.W-1], here, here[2:])
	}
	difference(row(v0[1], z, y), row(f, z, y-1), row(f, z, y+1))
	if s.D > 1 {
		difference(row(v0[2], z, y), row(f, z-1, y), row(f, z+1, y))
	}
}

// Limits of a pass: its steps, and the bytes of its rows in a core's cache.
const (
	passSteps = 8
	passBytes = 512 << 10
)

// evolve takes steps of one component from V0, in float32, or in float64 to measure rounding.
func evolve[T float32 | float64](p *Problem, v0, b []T, steps int64, threads int) []T {
	return new(pair[T]).evolve(p, v0, b, steps, threads)
}

// A pair is the memory of a component after an even and an odd number of steps of a pass; nil to allocate it.
type pair[T float32 | float64] [2][]T

func (v *pair[T]) allocate(n int64) {
	for i := range v {
		if v[i] == nil {
			v[i] = grid.NewValues[T](n)
		}
	}
}

// passRows returns the number of rows of a slice, and of a part of it that is near in all of a pass: two
// slices of v, v0 and b for each step, with numbers of some bytes.
func passRows(s grid.Shape, bytes int64) (unit, tile int64) {
	if s.D == 1 {
		return 32, 32
	}
	return s.H, max(passSteps, passBytes/(4*bytes*passSteps*s.W))
}

// evolve is evolve in the memory of a pair. Its first array is the result.
//
// A pass takes several steps of a few rows of all slices while they are in the cache. A step is a
// slice and a row behind the step before it, so all neighbours are as many steps along, and none is
// one step further. At the ends of a part, steps wait for those of the other part.
func (v *pair[T]) evolve(p *Problem, v0, b []T, steps int64, threads int) []T {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	v.allocate(int64(len(v0)))
	if steps == 0 {
		copy(v[0], v0)
	}
	s := p.Shape()
	unit, tile := passRows(s, int64(unsafe.Sizeof(p.Mu)))
	units := (s.D*s.H + unit - 1) / unit
	most := max(1, min(passSteps, units/int64(2*threads)))
	start := v0 // of a pass
	// step takes a step of rows of a unit, after n steps of a pass.
	step := func(n, u, from, to int64) {
		if from > 0 {
			from -= n
		}
		if to < unit {
			to -= n
		}
		lo, hi := u*unit+max(0, from), min(u*unit+min(unit, to), s.D*s.H)
		before := v[n%2]
		if n == 0 {
			before = start
		}
		if lo < hi {
			sweep(p, v[(n+1)%2], before, v0, b, lo, hi)
		}
	}
	for depth := int64(0); steps > 0; steps -= depth {
		depth = min(steps, most)
		inParts(units, threads, func(_ int, lo, hi int64) {
			for row := int64(0); row < unit; row += tile {
				for first := lo; first < hi+depth-1; first++ {
					for n := range depth {
						u := first - n
						if u >= lo && u < hi && (lo == 0 || u >= lo+n) && (hi == units || u < hi-n) {
							step(n, u, row, row+tile)
						}
					}
				}
			}
		})
		inParts(units, threads, func(_ int, lo, _ int64) {
			for n := int64(1); n < depth && lo > 0; n++ {
				for u := lo - n; u < lo+n; u++ {
					step(n, u, 0, unit)
				}
			}
		})
		if depth%2 == 1 {
			v[0], v[1] = v[1], v[0]
		}
		start = v[0]
	}
	return v[0]
}

// sweep takes a step of rows lo ≤ r < hi.
func sweep[T float32 | float64](p *Problem, next, v, v0, b []T, lo, hi int64) {
	if p.Mask != nil {
		sweepWithin(p, next, v, v0, b, lo, hi)
		return
	}
	s, mu := p.Shape(), T(p.Mu)
	beside := func(i, n int64) (before, after int64) {
		before, after = i-1, i+1
		if i == 0 {
			before = p.Boundary.Before(n)
		}
		if i == n-1 {
			after = p.Boundary.After(n)
		}
		return before, after
	}
	for r, end := lo, lo; r < hi; r = end {
		z, y := r/s.H, r%s.H
		end = r + 1
		if y > 0 && y < s.H-1 { // up to the last row of a slice, neighbours are equally far
			end = min(hi, (z+1)*s.H-1)
		}
		n := (end - r) * s.W
		from := func(z, y int64) []T { return v[(z*s.H+y)*s.W:][:n] }
		before, after := beside(y, s.H)
		here, north, south := from(z, y), from(z, before), from(z, after)
		below, above := here, here
		if s.D > 1 {
			before, after = beside(z, s.D)
			below, above = from(before, y), from(after, y)
		}
		line := line[T]{
			to: next[r*s.W:][:n], here: here, north: north, south: south, below: below, above: above,
			v0: v0[r*s.W:][:n], b: b[r*s.W:][:n], mu: mu, deep: s.D > 1,
		}
		if !line.stepVectors() {
			line.stepInner()
		}
		// The ends of rows last: they replace the values that a step across them sets.
		for _, x := range []int64{0, s.W - 1} {
			before, after := beside(x, s.W)
			line.stepColumn(x, before, after, s.W)
		}
	}
}

// A line is consecutive rows of a component, their next values, and the rows around them.
type line[T float32 | float64] struct {
	to, here, north, south, below, above, v0, b []T
	mu                                          T
	deep                                        bool // in 3D
}

// stepColumn sets a column of voxels of rows of a width; x, before and after are the places of the
// first voxel and its neighbours along the row.
func (l *line[T]) stepColumn(x, before, after, width int64) {
	north, south, below, above := l.north, l.south, l.below, l.above
	for ; x < int64(len(l.to)); x, before, after = x+width, before+width, after+width {
		sum, sides := T(T(l.here[before]+l.here[after])+T(north[x]+south[x])), T(4)
		if l.deep {
			sum, sides = T(sum+T(below[x]+above[x])), 6
		}
		u := l.here[x]
		l.to[x] = T(u + T(T(l.mu*T(sum-T(sides*u)))-T(T(u-l.v0[x])*l.b[x])))
	}
}

// stepInner sets all values except the two at the ends.
func (l *line[T]) stepInner() {
	n := len(l.to) - 2
	if n <= 0 {
		return
	}
	to, before, here, after := l.to[1:][:n], l.here[:n], l.here[1:][:n], l.here[2:][:n]
	north, south, below, above := l.north[1:][:n], l.south[1:][:n], l.below[1:][:n], l.above[1:][:n]
	v0, b, mu := l.v0[1:][:n], l.b[1:][:n], l.mu
	if l.deep {
		for i, u := range here {
			sum := T(T(T(before[i]+after[i])+T(north[i]+south[i])) + T(below[i]+above[i]))
			to[i] = T(u + T(T(mu*T(sum-T(6*u)))-T(T(u-v0[i])*b[i])))
		}
		return
	}
	for i, u := range here {
		sum := T(T(before[i]+after[i]) + T(north[i]+south[i]))
		to[i] = T(u + T(T(mu*T(sum-T(4*u)))-T(T(u-v0[i])*b[i])))
	}
}
