package eigenmap

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
)

// spectrum asks for the pairs of a constant image of the same shape. The eigenvectors of D − W are
// then products of cosines along the axes:
//
//	λ = (1 + w0) Σ 4 sin²(πk/2n) over the axes, 0 ≤ k < n
//
// It compares the span of the vectors for all values with a gap to the next one. The angle of the
// spans is at most the residual divided by the gap (Davis and Kahan 1970).
func spectrum(p *Problem, _ Map, ask ask) ([]verify.Measure, error) {
	s := p.Shape()
	if p.Kind != Grid {
		return nil, verify.ErrNotApplicable
	}
	flat, err := grid.NewField(s, grid.Uint8, make([]byte, s.Voxels()), grid.Identity(grid.Uint8))
	if err != nil {
		return nil, err
	}
	q := OfVoxels(flat, p.K, p.Tol, p.Sigma, p.Floor, false, true)
	got, err := ask(q)
	if err != nil {
		return nil, err
	}
	if d := q.misshapen(got); d != nil {
		return nan("error of the closed form", d.String()), nil
	}
	modes := modesOf(s, int64(p.K)+1, p.Floor)
	values := verify.Measure{Name: "error of the closed form", Limit: p.Tol}
	whole, gap := 0, 0.0
	for i := range p.K {
		if e := math.Abs(got.Values[i] - modes[i].value); values.Below(e) {
			values.Value, values.At = e, fmt.Sprintf("pair %d: %g, not %g", i+1, got.Values[i], modes[i].value)
		}
		if i+1 == len(modes) {
			whole, gap = i+1, math.Inf(1)
		} else if d := modes[i+1].value - modes[i].value; d > 100*p.Tol {
			whole, gap = i+1, d
		}
	}
	list := []verify.Measure{values}
	if whole > 0 {
		angle := verify.Measure{Name: "angle of the cosines from the span", Limit: 2*math.Sqrt(float64(p.K))*p.Tol/gap + 1e-9}
		x := make([]float64, s.Voxels())
		for _, m := range modes[:whole] {
			for i := range x {
				z, y, x0 := s.Coordinates(int64(i))
				x[i] = 1
				for a, n := range [3]int64{s.W, s.H, s.D} {
					x[i] *= math.Cos(math.Pi * float64(m.k[a]) * (float64([3]int64{x0, y, z}[a]) + 0.5) / float64(n))
				}
			}
			size := algebra.Norm(x)
			algebra.Project(x, got.Vectors[:whole])
			if e := algebra.Norm(x) / size; angle.Below(e) {
				angle.Value, angle.At = e, fmt.Sprintf("mode %v", m.k)
			}
		}
		list = append(list, angle)
	}
	return list, nil
}

// A mode is a product of cosines with k half waves along x, y and z.
type mode struct {
	value float64
	k     [3]int64
}

// modesOf returns the modes of an image, the lowest first, with fewer than most half waves along each
// axis. They include the lowest ones, of that number.
func modesOf(s grid.Shape, most int64, floor float64) (modes []*mode) {
	for z := range min(s.D, most) {
		for y := range min(s.H, most) {
			for x := range min(s.W, most) {
				m := &mode{k: [3]int64{x, y, z}}
				for a, n := range [3]int64{s.W, s.H, s.D} {
					half := math.Sin(math.Pi * float64(m.k[a]) / float64(2*n))
					m.value += (1 + floor) * 4 * half * half
				}
				modes = append(modes, m)
			}
		}
	}
	slices.SortStableFunc(modes, func(a, b *mode) int { return cmp.Compare(a.value, b.value) })
	return modes
}

// cuts verifies that the second value is at most the normalised cut of each tried set S (Shi and
// Malik 2000). cut(S)/m(S) + cut(S)/m(rest) is the Rayleigh quotient of a vector perpendicular to
// the kernel.
func cuts(p *Problem, m Map, _ ask) ([]verify.Measure, error) {
	if p.K < 2 {
		return nil, verify.ErrNotApplicable
	}
	if d := p.misshapen(m); d != nil {
		return nan("second value", d.String()), nil
	}
	g, err := p.graph()
	if err != nil {
		return nil, err
	}
	sweeps, err := p.sweeps(m)
	if err != nil {
		return nil, err
	}
	measure := verify.Measure{Name: "second value over the least cut", Limit: 1, At: "no set"}
	least := math.Inf(1)
	for s, cuts := range g.cuts(sweeps) {
		for k, c := range cuts {
			if c < least {
				least, measure.At = c, fmt.Sprintf("%s: %g, the value is %g", sweeps[s].names[k], c, m.Values[1])
			}
		}
	}
	if math.IsInf(least, 1) {
		return nil, verify.ErrNotApplicable
	}
	measure.Value = m.Values[1] / (least + ofCancels + min(p.Tol, ofProof*least))
	return []verify.Measure{measure}, nil
}

// A sweep is a growing sequence of sets of nodes: set k has the nodes of rank at most k.
type sweep struct {
	rank  []uint8
	names []string
}

// sweeps returns the sets to try.
func (p *Problem) sweeps(m Map) (list []sweep, err error) {
	n := len(m.Vectors[1])
	set := func(name string, in func(i int) bool) {
		rank := make([]uint8, n)
		for i := range rank {
			if !in(i) {
				rank[i] = 1
			}
		}
		list = append(list, sweep{rank, []string{name}})
	}
	mask := p.Nodewise(m)
	set("the mask", func(i int) bool { return mask[i] })
	s := p.Nodes()
	for a, size := range [3]int64{s.W, s.H, s.D} {
		set("half along "+"xyz"[a:a+1], func(i int) bool {
			z, y, x := s.Coordinates(int64(i))
			return [3]int64{x, y, z}[a] < size/2
		})
	}
	thresholds := func(name string, of []float64) {
		const parts = 16
		sorted := slices.Clone(of)
		slices.Sort(sorted)
		w := sweep{rank: make([]uint8, n)}
		for k := 1; k < parts; k++ {
			t := sorted[n*k/parts]
			w.names = append(w.names, fmt.Sprintf("%s below %.4g", name, t))
			for i, v := range of {
				if v >= t {
					w.rank[i]++
				}
			}
		}
		list = append(list, w)
	}
	g, err := p.graph()
	if err != nil {
		return nil, err
	}
	u := make([]float64, n)
	for i, v := range m.Vectors[1] {
		u[i] = v / math.Sqrt(g.mass[i])
	}
	thresholds("the second vector", u)
	if p.Kind == Grid {
		values, err := p.Numbers()
		if err != nil {
			return nil, err
		}
		thresholds("the image", values)
	} else {
		first := make([]float64, n)
		for i := range first {
			first[i] = float64(g.features[i*int(p.Features())])
		}
		thresholds("the patches' first voxel", first)
	}
	return list, nil
}

// cuts returns the normalised cuts of the sets of sweeps; +Inf for an empty or full set.
func (g *Graph) cuts(sweeps []sweep) [][]float64 {
	const chunk, most = 1 << 12, 1 << 8
	parts := (g.Nodes() + chunk - 1) / chunk
	// For each sweep and rank: the weights that the set begins to cut minus the weights that it no
	// longer cuts.
	begins := make([][][most]float64, parts)
	each(parts, func(part int) {
		own := make([][most]float64, len(sweeps))
		begins[part] = own
		for i := part * chunk; i < min((part+1)*chunk, g.Nodes()); i++ {
			g.row(i, func(j int, w float64) {
				if j > i {
					return
				}
				for s, sweep := range sweeps {
					if a, b := sweep.rank[i], sweep.rank[j]; a != b {
						own[s][min(a, b)] += w
						own[s][max(a, b)] -= w
					}
				}
			})
		}
	})
	all := algebra.Sum(g.mass)
	out := make([][]float64, len(sweeps))
	for s, sweep := range sweeps {
		var mass [most]float64
		for i, r := range sweep.rank {
			mass[r] += g.mass[i]
		}
		cut, inside := 0.0, 0.0
		for k := range sweep.names {
			for part := range parts {
				cut += begins[part][s][k]
			}
			inside += mass[k]
			if c := cut * (1/inside + 1/(all-inside)); inside > 0 && all-inside > 1e-12*all {
				out[s] = append(out[s], c)
			} else {
				out[s] = append(out[s], math.Inf(1))
			}
		}
	}
	return out
}

// flipped verifies that the mirrored image has the same values.
func flipped(p *Problem, m Map, ask ask) ([]verify.Measure, error) {
	if grid.LabelsOf(p.Source) != nil || p.Kind != Grid && p.Shape().W%p.Side != 0 {
		return nil, verify.ErrNotApplicable
	}
	if d := p.misshapen(m); d != nil {
		return nan("value", d.String()), nil
	}
	got, err := ask(p.ForImage(views.Flip(p.Source, 'x')))
	if err != nil {
		return nil, err
	}
	if len(got.Values) != p.K {
		return nan("value", fmt.Sprintf("%d values", len(got.Values))), nil
	}
	list := make([]float64, p.K)
	for k, v := range m.Values {
		list[k] = math.Abs(v - got.Values[k])
	}
	return []verify.Measure{worst("value of the flipped image off", p.Tol, list)}, nil
}
