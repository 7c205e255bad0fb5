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
const ringNS = 1000

// OnRings returns the workload of a set in an image with periodic axes for an implementation. The
// numbers are over the rationals. A set that fills a periodic volume also has b3 = 1, which Numbers
// omits.
func OnRings(impl bench.Implementation[*Image, Numbers], c ecc.Convention) bench.Workload[*Image, Numbers] {
	w := Workload(impl)
	w.Policy = verify.Policy[*Image, Numbers]{Agree: agree, Weak: weak, Laws: []law{{Name: FloodName + " round the rings", Independent: true,
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

// CurvesOnRings returns the workload of the numbers at every level of an image with periodic axes, for one
// implementation. Its witness fills the set at each value of the image.
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

// floodedRings compares curves with a fill of the set at each value of an image. Numbers change at no other level.
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
				got = got.plus(s.Numbers)
			}
		}
		if got != want {
			return &verify.Diff{Where: fmt.Sprintf("value %v", v), Want: fmt.Sprint(want), Got: fmt.Sprint(got)}, nil
		}
	}
	return nil, nil
}

// ByFloodingRings returns the numbers of a set in an image with periodic axes. It fills components
// voxel by voxel. A voxel that is reached again at another place on the unrolled axes closes a loop
// around a ring. The Euler characteristic is computed from unrolled images: a ring is an interval
// with identified ends, so its χ is χ of the interval minus χ of the end.
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
	type term struct {
		image grid.Source
		wrap  grid.Axes
		times int64
	}
	terms := []term{{set, c.Periodic, 1}}
	for axis := range c.Periodic.Each() {
		for _, t := range terms {
			terms = append(terms, term{grid.First(t.image, axis), t.wrap.Without(axis), -t.times})
		}
	}
	for _, t := range terms {
		n, err := ByFlooding(&Image{Source: grid.Wrap(t.image, t.wrap)}, ecc.Convention{Vertices: c.Vertices})
		if err != nil {
			return 0, err
		}
		chi += t.times * n.Euler()
	}
	return chi, nil
}

// A roundFill is the result of filling all voxels of a kind on rings: the number of components, and
// the total number of independent loops around the rings.
type roundFill struct {
	components, rank int64
	first, normal    [3]int64 // a loop, and the normal of the plane of two loops
}

// met records a loop.
func (r *roundFill) met(v [3]int64) {
	cross := [3]int64{r.first[1]*v[2] - r.first[2]*v[1], r.first[2]*v[0] - r.first[0]*v[2], r.first[0]*v[1] - r.first[1]*v[0]}
	switch {
	case r.rank == 0 && v != [3]int64{}:
		r.first, r.rank = v, 1
	case r.rank == 1 && cross != [3]int64{}:
		r.normal, r.rank = cross, 2
	case r.rank == 2 && r.normal[0]*v[0]+r.normal[1]*v[1]+r.normal[2]*v[2] != 0:
		r.rank = 3
	}
}

// An unrolled is a voxel on the unrolled axes: its place on the rings, and the number of turns
// around them.
type unrolled struct{ at, round [3]int64 }

// fillRings fills all voxels of a kind. The outside of the image, one voxel wide, belongs to the
// complement.
func (m *mask) fillRings(rings grid.Axes, inside, corners, flat bool) (r roundFill) {
	sides, ring := [3]int64{m.d, m.h, m.w}, [3]bool{rings.Z, rings.Y, rings.X}
	var margin [3]int64
	for a := range sides {
		if !ring[a] && !(flat && a == 0) && !inside {
			margin[a] = 1
		}
	}
	size := [3]int64{sides[0] + 2*margin[0], sides[1] + 2*margin[1], sides[2] + 2*margin[2]}
	number := func(p [3]int64) int64 { return (p[0]*size[1]+p[1])*size[2] + p[2] }
	of := func(p [3]int64) bool { // reports whether a voxel is of the kind
		for a := range p {
			if p[a] -= margin[a]; p[a] < 0 || p[a] >= sides[a] {
				return !inside
			}
		}
		return m.inside[(p[0]*sides[1]+p[1])*sides[2]+p[2]] == inside
	}
	step := func(p unrolled, by [3]int64) (unrolled, bool) {
		is := true
		for a := range by {
			if p.at[a] += by[a]; p.at[a] < 0 || p.at[a] >= size[a] {
				is = is && ring[a]
				p.round[a] += by[a]
				p.at[a] -= by[a] * size[a]
			}
		}
		return p, is && of(p.at)
	}
	seen := make([]bool, size[0]*size[1]*size[2])
	round := make([][3]int32, len(seen))
	var due []unrolled
	for k := range seen {
		n := int64(k)
		if p := [3]int64{n / (size[1] * size[2]), n / size[2] % size[1], n % size[2]}; !seen[k] && of(p) {
			r.components++
			seen[k] = true
			due = append(due, unrolled{at: p})
		}
		for len(due) > 0 {
			p := due[len(due)-1]
			due = due[:len(due)-1]
			for k := range int64(27) {
				by := [3]int64{k/9 - 1, k/3%3 - 1, k%3 - 1}
				if far := by[0]*by[0] + by[1]*by[1] + by[2]*by[2]; far == 0 || far > 1 && !corners || flat && by[0] != 0 {
					continue
				}
				q, is := step(p, by)
				if !is {
					continue
				}
				i := number(q.at)
				if !seen[i] {
					seen[i] = true
					round[i] = [3]int32{int32(q.round[0]), int32(q.round[1]), int32(q.round[2])}
					due = append(due, q)
					continue
				}
				r.met([3]int64{q.round[0] - int64(round[i][0]), q.round[1] - int64(round[i][1]), q.round[2] - int64(round[i][2])})
			}
		}
	}
	return r
}
