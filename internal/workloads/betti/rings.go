package betti

import (
	"fmt"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// SetOf shows the set of a binary image in a convention as a grey image of uint8: 0 inside, 1
// outside.
func SetOf(i *Image, c ecc.Convention) grid.Source { return i.set(c).Binary() }

// ringNS is about the time in nanoseconds that one core takes to fill a voxel of noise on rings.
const ringNS = 500

// OnRings returns the workload of a set in an image with periodic axes for an implementation. The
// numbers are over the rationals. A set that fills a periodic volume also has b3 = 1, which Numbers
// omits.
func OnRings(impl bench.Implementation[*Image, Numbers], c ecc.Convention) bench.Workload[*Image, Numbers] {
	w := Workload(impl)
	w.Policy = verify.Policy[*Image, Numbers]{Agree: agree, Weak: weak,
		Laws: []law{{Name: FloodName + " round the rings", Independent: true,
			Work: func(i *Image) time.Duration { return time.Duration(i.Shape().Voxels()) * ringNS },
			Check: func(in *Image, out Numbers, _ ask) (*verify.Diff, error) {
				want, err := ByFloodingRings(in, c)
				if err != nil {
					return nil, err
				}
				return agree(in, want, out), nil
			}}}}
	return w
}

// CurvesOnRings returns the workload of the numbers at every level of an image with periodic axes,
// for one implementation. Its witness fills the set at each value of the image.
func CurvesOnRings(
	impl bench.Implementation[grid.Source, Curves], c ecc.Convention,
) bench.Workload[grid.Source, Curves] {
	w := CurvesWorkload(impl)
	w.Policy = verify.Policy[grid.Source, Curves]{Agree: sameCurves, Weak: weakCurves, Laws: []curvesLaw{{
		Name: FloodName + " round the rings at every level", Independent: true,
		Work: func(in grid.Source) time.Duration {
			voxels := in.Shape().Voxels()
			return time.Duration(float64(min(in.Ladder().Len(), voxels)) * float64(voxels) * ringNS)
		},
		Check: func(in grid.Source, out Curves, _ curvesAsk) (*verify.Diff, error) {
			return floodedRings(in, out, c)
		},
	}}}
	return w
}

// floodedRings compares curves with a fill of the set at each value of an image. Numbers change at
// no other level.
func floodedRings(in grid.Source, out Curves, c ecc.Convention) (*verify.Diff, error) {
	f, err := grid.Load(in)
	if err != nil {
		return nil, err
	}
	values := slices.DeleteFunc(slices.Clone(f.Floats()), func(v float32) bool { return v-v != 0 }) // masked voxels
	slices.Sort(values)
	values = slices.Compact(values)
	for _, s := range out {
		if _, within := slices.BinarySearch(values, in.Ladder().Value(s.Level)); !within {
			d := &verify.Diff{Where: fmt.Sprintf("level %d", s.Level), Got: fmt.Sprint(s.Numbers)}
			d.Want = "no change: no voxel has this value"
			return d, nil
		}
	}
	for _, v := range values {
		want, err := ByFloodingRings(&Image{Source: f, Threshold: v}, c)
		if err != nil {
			return nil, err
		}
		got := Numbers{}
		for _, s := range out {
			if at := in.Ladder().Value(s.Level); at == v || at < v != c.Superlevel {
				got = got.Plus(s.Numbers)
			}
		}
		if got != want {
			return &verify.Diff{Where: fmt.Sprintf("value %v", v), Want: fmt.Sprint(want), Got: fmt.Sprint(got)}, nil
		}
	}
	return nil, nil
}

// ByFloodingRings returns the numbers of a set in an image with periodic axes. It fills components
// from one span of voxels in a row to the next. A span that is reached again at another place on
// the unrolled axes closes a loop around a ring. The Euler characteristic is computed from unrolled
// images. A ring is an interval with identified ends, so its χ is χ of the interval minus χ of the
// end.
func ByFloodingRings(i *Image, c ecc.Convention) (Numbers, error) {
	m, err := maskOf(i, c.Superlevel)
	if err != nil {
		return Numbers{}, err
	}
	if err := m.leaveOut(i, c); err != nil {
		return Numbers{}, err
	}
	chi, err := unrolledCharacteristic(SetOf(i, c), c)
	if err != nil {
		return Numbers{}, err
	}
	flat := i.Shape().Dim() == 2
	set := m.fillRings(c.Periodic, true, !c.Vertices, flat)
	rest := m.fillRings(c.Periodic, false, c.Vertices, flat)
	rings := int64(0)
	for range c.Periodic.Each() {
		rings++
	}
	enclosed, top := rings-rest.rank+rest.components-1, int64(0)
	if rest.components == 0 {
		enclosed, top = rings, 1
	}
	if flat {
		return Numbers{set.components, set.components + top - chi, top}, nil
	}
	return Numbers{set.components, set.components + enclosed - top - chi, enclosed}, nil
}

// leaveOut removes the masked voxels of an image from its set.
func (m *mask) leaveOut(i *Image, c ecc.Convention) error {
	if !c.Masked {
		return nil
	}
	f, err := grid.Load(i.Source)
	if err != nil {
		return err
	}
	for k, v := range f.Floats() {
		m.inside[k] = m.inside[k] && v-v == 0 // +Inf marks a masked voxel
	}
	return nil
}

// unrolledCharacteristic returns the Euler characteristic of the set at 0 of a binary image on
// rings, from images without rings.
func unrolledCharacteristic(set grid.Source, c ecc.Convention) (chi int64, err error) {
	for _, in := range ecc.Unrolled(set, c.Periodic) {
		n, err := ByFlooding(&Image{Source: in.View}, ecc.Convention{Vertices: c.Vertices})
		if err != nil {
			return 0, err
		}
		chi += in.Times * n.Euler()
	}
	return chi, nil
}

// A roundFill is the result of filling all voxels of a kind on rings. It has the number of
// components, and the total number of independent loops around the rings.
type roundFill struct {
	components, rank int64
	first, normal    [3]int64 // a loop, and the normal of the plane of two loops
}

// met records a loop.
func (r *roundFill) met(v [3]int64) {
	cross := [3]int64{r.first[1]*v[2] - r.first[2]*v[1], r.first[2]*v[0] - r.first[0]*v[2],
		r.first[0]*v[1] - r.first[1]*v[0]}
	switch {
	case r.rank == 0 && v != [3]int64{}:
		r.first, r.rank = v, 1
	case r.rank == 1 && cross != [3]int64{}:
		r.normal, r.rank = cross, 2
	case r.rank == 2 && r.normal[0]*v[0]+r.normal[1]*v[1]+r.normal[2]*v[2] != 0:
		r.rank = 3
	}
}

// A span is the voxels of a kind between two others in a row, which may include the margin.
type span struct{ row, lo, hi int32 }

// A ringFill fills spans on the unrolled axes.
type ringFill struct {
	size    [3]int64
	ring    [3]bool
	corners bool
	spans   []span
	first   []int32 // of the spans of each row
	seen    []bool
	round   [][3]int32 // the turns at which a span was first reached
	due     []int32
	roundFill
}

// fillRings fills all voxels of a kind. The outside of the image, one voxel wide, belongs to the
// complement.
func (m *mask) fillRings(rings grid.Axes, inside, corners, flat bool) roundFill {
	f := ringFill{ring: [3]bool{rings.Z, rings.Y, rings.X}, corners: corners}
	var margin [3]int64
	for a, side := range [3]int64{m.d, m.h, m.w} {
		if !f.ring[a] && !(flat && a == 0) && !inside {
			margin[a] = 1
		}
		f.size[a] = side + 2*margin[a]
	}
	f.list(m, margin, inside)
	f.seen, f.round = make([]bool, len(f.spans)), make([][3]int32, len(f.spans))
	for k := range f.spans {
		if f.seen[k] {
			continue
		}
		f.components++
		f.seen[k] = true
		f.due = append(f.due, int32(k))
		for len(f.due) > 0 {
			s := f.due[len(f.due)-1]
			f.due = f.due[:len(f.due)-1]
			for by := range int64(9) {
				f.leave(s, by/3-1, by%3-1, flat)
			}
		}
	}
	return f.roundFill
}

// list lists the spans of a kind, row by row.
func (f *ringFill) list(m *mask, margin [3]int64, inside bool) {
	row := make([]bool, f.size[2]+1) // of the kind; the last one is not
	for z := -margin[0]; z < m.d+margin[0]; z++ {
		for y := -margin[1]; y < m.h+margin[1]; y++ {
			for x := range row[:f.size[2]] {
				row[x] = !inside
			}
			if z >= 0 && z < m.d && y >= 0 && y < m.h {
				within := row[margin[2]:]
				for x, is := range m.inside[(z*m.h+y)*m.w:][:m.w] {
					within[x] = is == inside
				}
			}
			f.first = append(f.first, int32(len(f.spans)))
			for lo := 0; lo < len(row); lo++ {
				hi := lo
				for row[hi] {
					hi++
				}
				if hi > lo {
					f.spans = append(f.spans, span{int32(len(f.first) - 1), int32(lo), int32(hi)})
				}
				lo = hi
			}
		}
	}
	f.first = append(f.first, int32(len(f.spans)))
}

// leave fills the adjacent spans in the row one step away.
func (f *ringFill) leave(from int32, z, y int64, flat bool) {
	if flat && z != 0 || !f.corners && z*y != 0 {
		return
	}
	s, round := f.spans[from], f.round[from]
	at := [2]int64{int64(s.row)/f.size[1] + z, int64(s.row)%f.size[1] + y}
	for a, side := range f.size[:2] {
		switch {
		case at[a] >= 0 && at[a] < side:
			continue
		case !f.ring[a]:
			return
		case at[a] < 0:
			at[a] += side
			round[a]--
		default:
			at[a] -= side
			round[a]++
		}
	}
	row := at[0]*f.size[1] + at[1]
	lo, hi := f.first[row], f.first[row+1]
	if lo == hi {
		return
	}
	same := z == 0 && y == 0
	if f.ring[2] && (same || f.corners) { // the first voxel and the last are neighbours
		w := int32(f.size[2])
		if s.hi == w && f.spans[lo].lo == 0 {
			f.reach(lo, [3]int32{round[0], round[1], round[2] + 1})
		}
		if s.lo == 0 && f.spans[hi-1].hi == w {
			f.reach(hi-1, [3]int32{round[0], round[1], round[2] - 1})
		}
	}
	if same {
		return
	}
	wide := int32(0)
	if f.corners {
		wide = 1
	}
	n, _ := slices.BinarySearchFunc(f.spans[lo:hi], s.lo-wide, func(t span, x int32) int { return int(t.hi - x - 1) })
	for k := lo + int32(n); k < hi && f.spans[k].lo < s.hi+wide; k++ {
		f.reach(k, round)
	}
}

// reach fills a span with the turns of the path to it. A span that was reached before closes a
// loop.
func (f *ringFill) reach(k int32, round [3]int32) {
	if !f.seen[k] {
		f.seen[k], f.round[k] = true, round
		f.due = append(f.due, k)
		return
	}
	if at := f.round[k]; at != round {
		f.met([3]int64{int64(round[0] - at[0]), int64(round[1] - at[1]), int64(round[2] - at[2])})
	}
}
