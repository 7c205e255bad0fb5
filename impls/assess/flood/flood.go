// Package flood compares the topology of two segmentations by the definition: it floods components
// and background components voxel by voxel, and counts the cells of each mask one by one.
package flood

import (
	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/betti"
)

// voxelNS and voxelBytes bound the time per voxel and set, and the memory per voxel.
const (
	voxelNS    = 2000
	voxelBytes = 64
)

// Implementation is ready to use.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "flood", Where: "cpu",
		Method: "flood fill of both masks, their union and the backgrounds, voxel by voxel; χ cell by cell; one core",
		Source: "the definition",
		Scopes: []bench.Scope{bench.E2E},
	}
}

// CanDo rejects inputs that need more time or memory than the conditions allow.
func (Implementation) CanDo(in *assess.Pair, c bench.Conditions) error {
	s := in.Shape()
	n, sets := (s.D+2*border)*(s.H+2*border)*(s.W+2*border), int64(len(in.Sets))
	if err := c.Allow(quantity.Seconds(float64(n*sets)*voxelNS*1e-9), "%d voxels with a border × %d sets × %d ns", n,
		sets, voxelNS); err != nil {
		return err
	}
	return c.AllowMemory(voxelBytes*n, "%d bytes for each of %d voxels with a border", voxelBytes, n)
}

// Setup allocates nothing.
func (Implementation) Setup(in *assess.Pair, _ bench.Conditions) (bench.Job[assess.Comparisons], error) {
	return &job{in: in, Output: bench.PoisonedBy(assess.Poisoned())}, nil
}

type job struct {
	in *assess.Pair
	bench.Output[assess.Comparisons]
}

func (j *job) Do(trace *bench.Trace) error {
	defer trace.Span("flood")()
	out := make(assess.Comparisons, len(j.in.Sets))
	for i, set := range j.in.Sets {
		out[i] = newMasks(j.in, set).compare()
	}
	j.Last = out
	return nil
}

// border is the background around an image: one voxel of outside, and one that is never flooded.
const border = 2

// The masks of a set.
const (
	pred = iota
	truth
	union
	masksOfSet
)

// masks are the masks of a set with a border. A 2D image has no border along z.
type masks struct {
	flat   bool
	step   [3]int // from a voxel to the next along z, y and x
	voxels []int  // without the outermost voxels
	mask   [masksOfSet][]bool
}

func newMasks(in *assess.Pair, set assess.Set) *masks {
	s := in.Shape()
	m := &masks{flat: s.D == 1}
	d, h, w := int(s.D)+2*border, int(s.H)+2*border, int(s.W)+2*border
	deep := border
	if m.flat {
		d, deep = 1, 0
	}
	m.step = [3]int{h * w, w, 1}
	for k := range m.mask {
		m.mask[k] = make([]bool, d*h*w)
	}
	outermost := func(at, n int) bool { return at == 0 || at == n-1 }
	for i := range d * h * w {
		z, y, x := i/(h*w), i/w%h, i%w
		if !outermost(y, h) && !outermost(x, w) && (m.flat || !outermost(z, d)) {
			m.voxels = append(m.voxels, i)
		}
	}
	for i := range s.Voxels() {
		z, y, x := s.Coordinates(i)
		at := (int(z)+deep)*h*w + (int(y)+border)*w + int(x) + border
		p, t := in.Has(set, i)
		m.mask[pred][at], m.mask[truth][at], m.mask[union][at] = p, t, p || t
	}
	return m
}

// near returns the offsets of the neighbours of a voxel: across faces, or also across edges and
// corners.
func (m *masks) near(corners bool) (list []int) {
	for i := range 27 {
		e := [3]int{i/9 - 1, i/3%3 - 1, i%3 - 1}
		n := e[0]*e[0] + e[1]*e[1] + e[2]*e[2]
		if n == 0 || m.flat && e[0] != 0 || n > 1 && !corners {
			continue
		}
		list = append(list, e[0]*m.step[0]+e[1]*m.step[1]+e[2]*m.step[2])
	}
	return list
}

// flood numbers the components of the voxels with a value from 1 on.
func (m *masks) flood(mask []bool, value, corners bool) (n int32, of []int32) {
	const never = -1
	of = make([]int32, len(mask))
	for i := range of {
		of[i] = never
	}
	for _, i := range m.voxels {
		of[i] = 0
	}
	near, due := m.near(corners), []int{}
	for _, i := range m.voxels {
		if of[i] != 0 || mask[i] != value {
			continue
		}
		n++
		of[i] = n
		for due = append(due, i); len(due) > 0; {
			at := due[len(due)-1]
			due = due[:len(due)-1]
			for _, by := range near {
				if to := at + by; of[to] == 0 && mask[to] == value {
					of[to] = n
					due = append(due, to)
				}
			}
		}
	}
	return n, of
}

// euler returns the Euler characteristic of a 3D mask. A cell at a voxel spans some axes; the voxels
// at it are those before the voxel along these axes. In T it separates them and needs one of them;
// in V they are its corners and it needs all.
func (m *masks) euler(mask []bool, construction int) (n int64) {
	for _, i := range m.voxels {
		for cell := range 8 {
			some, all, sign := false, true, int64(1)
			for corner := range 8 {
				if corner&^cell != 0 {
					continue
				}
				at := i
				for axis, step := range m.step {
					at -= corner >> axis & 1 * step
				}
				some, all = some || mask[at], all && mask[at]
			}
			for axis := range m.step {
				if (cell>>axis&1 == 1) == (construction == assess.V) {
					sign = -sign
				}
			}
			if some && construction == assess.T || all && construction == assess.V {
				n += sign
			}
		}
	}
	return n
}

// compare compares the masks.
func (m *masks) compare() (c assess.Comparison) {
	for i, p := range m.mask[pred] {
		t := m.mask[truth][i]
		c.Pred, c.Truth, c.Both = c.Pred+one(p), c.Truth+one(t), c.Both+one(p && t)
	}
	for k := range c.In {
		t, corners := &c.In[k], k == assess.T
		var gaps [masksOfSet][]int32
		for of, to := range []*betti.Numbers{&t.Pred, &t.Truth, &t.Union} {
			parts, number := m.flood(m.mask[of], true, corners)
			enclosed, around := m.flood(m.mask[of], false, !corners)
			if enclosed--; m.flat { // without the outside
				*to = betti.Numbers{B0: int64(parts), B1: int64(enclosed)}
			} else {
				*to = betti.NewNumbers(int64(parts), int64(enclosed), m.euler(m.mask[of], k))
			}
			if gaps[of] = around; of == union {
				t.Components = m.meetBoth(number, parts)
			}
		}
		t.Holes = overlapping(gaps[pred], gaps[truth]) - 1
	}
	return c
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// meetBoth returns the number of components of the union with voxels of both masks.
func (m *masks) meetBoth(of []int32, n int32) (both int64) {
	met := make([][2]bool, n+1)
	for i, component := range of {
		if component > 0 {
			met[component][0] = met[component][0] || m.mask[pred][i]
			met[component][1] = met[component][1] || m.mask[truth][i]
		}
	}
	for _, is := range met {
		both += one(is[0] && is[1])
	}
	return both
}

// overlapping returns the number of groups of components of two kinds that overlap, directly or
// through others.
func overlapping(a, b []int32) (n int64) {
	next := map[int32]map[int32]bool{} // components of b have negative numbers
	for i := range a {
		if a[i] <= 0 || b[i] <= 0 {
			continue
		}
		for _, pair := range [2][2]int32{{a[i], -b[i]}, {-b[i], a[i]}} {
			if next[pair[0]] == nil {
				next[pair[0]] = map[int32]bool{}
			}
			next[pair[0]][pair[1]] = true
		}
	}
	for node := range next {
		if next[node] == nil {
			continue
		}
		n++
		for due := []int32{node}; len(due) > 0; {
			at := due[len(due)-1]
			due = due[:len(due)-1]
			for to := range next[at] {
				due = append(due, to)
			}
			delete(next, at)
		}
	}
	return n
}
