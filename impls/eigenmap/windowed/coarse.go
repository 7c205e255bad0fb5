package windowed

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/workloads/eigenmap"
)

// A coarse is the graph of groups of patches that are alike and near each other. Vectors whose values
// are low are nearly constant on groups, but for √degree; what a vector has beside them L hardly changes,
// because rows of W have many weights. So about the solution of Lx = f is that of the groups, and f itself
// beside them. Weights of groups are those of their means: vectors converge as fast as with sums of all.
type coarse struct {
	of      []int32       // the group of each patch
	share   []float64     // of each patch, its number in its group's vector, which has the length 1
	kernel  *mat.VecDense // by groups
	factors mat.BandCholesky
}

// A group is of patches: their means, and sum of degrees.
type group struct {
	patches  []int
	at       [3]float64
	features []float64
	degree   float64
}

const (
	mostGroups = 4096
	// shift is added to the groups' matrix, which has a kernel.
	shift = 1e-6
)

// coarsen makes groups, and their matrix.
func (g *graph) coarsen(p *eigenmap.Problem) (*coarse, error) {
	alike := float64(g.m) * p.Alpha * p.Alpha // squares of distances whose weight is 1/e
	c := &coarse{of: make([]int32, g.n), share: make([]float64, g.n)}
	side, apart := max(2, int64(1.6*p.Beta)), alike
	groups := c.group(g, side, apart)
	for ; len(groups) > max(1, min(mostGroups, g.n/4)); groups = c.group(g, side, apart) {
		if apart *= 4; apart > 4*float64(g.m)*255*255 { // blocks are groups
			side, apart = 2*side, alike
		}
	}
	n := len(groups)
	c.kernel = mat.NewVecDense(n, nil)
	for k := range groups {
		g.mean(&groups[k])
		for _, i := range groups[k].patches {
			c.share[i] = math.Sqrt(g.degree[i] / groups[k].degree)
		}
		c.kernel.SetVec(k, math.Sqrt(groups[k].degree))
	}
	c.kernel.ScaleVec(1/mat.Norm(c.kernel, 2), c.kernel)

	// Weights of blocks are those of means of places that are farther apart by what blocks spread.
	place := p.Beta*p.Beta + float64(side*side-1)/6
	reach := float64(window(p) + side)
	width := 0
	for k := range groups {
		for q := len(groups) - 1; q > k+width; q-- {
			if groups[k].isNear(&groups[q], reach) {
				width = q - k
			}
		}
	}
	matrix, sums := mat.NewSymBandDense(n, width, nil), make([]float64, n)
	for k := range groups {
		for q := k; q < min(n, k+width+1); q++ {
			a, b := &groups[k], &groups[q]
			w := float64(len(a.patches)*len(b.patches)) * math.Exp(-squares(a.features, b.features)/alike-squares(a.at[:], b.at[:])/(2*place))
			matrix.SetSymBand(k, q, w)
			if sums[k] += w; q > k {
				sums[q] += w
			}
		}
	}
	// Means may be far more alike than patches are, as those of noise: sums of weights are to be degrees.
	for k, a := range groups {
		sums[k] = math.Sqrt(a.degree / sums[k])
	}
	rest := make([]float64, n)
	for k, a := range groups {
		for q := k + 1; q < min(n, k+width+1); q++ {
			w := matrix.At(k, q) * sums[k] * sums[q]
			matrix.SetSymBand(k, q, -w/math.Sqrt(a.degree)/math.Sqrt(groups[q].degree))
			rest[k] += w
			rest[q] += w
		}
		matrix.SetSymBand(k, k, rest[k]/a.degree+shift)
	}
	if !c.factors.Factorize(matrix) {
		return nil, errors.New("the matrix of groups of patches is not positive")
	}
	return c, nil
}

// mean sets the means of a group.
func (g *graph) mean(of *group) {
	of.features = make([]float64, g.m)
	over := 1 / float64(len(of.patches))
	for _, i := range of.patches {
		z, y, x := g.shape.Coordinates(int64(i))
		for a, v := range [3]int64{x, y, z} {
			of.at[a] += float64(v) * over
		}
		for k, v := range g.features[i*g.m:][:g.m] {
			of.features[k] += float64(v) * over
		}
		of.degree += g.degree[i]
	}
}

// isNear reports whether two groups are at most reach apart along each axis.
func (a *group) isNear(b *group, reach float64) bool {
	for k, v := range a.at {
		if math.Abs(v-b.at[k]) > reach {
			return false
		}
	}
	return true
}

// squares is the square of a distance.
func squares(a, b []float64) (sum float64) {
	for k, v := range a {
		sum += (v - b[k]) * (v - b[k])
	}
	return sum
}

// group sets the group of each patch: in blocks of so many patches along each axis, those that are no
// farther apart from the first one than so. Numbers go along the shortest axes first, so that what is
// near has numbers that are.
func (c *coarse) group(g *graph, side int64, apart float64) (groups []group) {
	size := [3]int64{g.shape.W, g.shape.H, g.shape.D}
	axes := []int{2, 1, 0}
	slices.SortStableFunc(axes, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	var at [3]int64
	block := func() {
		first := len(groups)
		for z := at[2]; z < min(at[2]+side, size[2]); z++ {
			for y := at[1]; y < min(at[1]+side, size[1]); y++ {
				for x := at[0]; x < min(at[0]+side, size[0]); x++ {
					i := int((z*size[1]+y)*size[0] + x)
					k := slices.IndexFunc(groups[first:], func(of group) bool {
						return float64(squaredDistance(g.features[i*g.m:][:g.m], g.features[of.patches[0]*g.m:][:g.m])) <= apart
					})
					if k < 0 {
						k = len(groups) - first
						groups = append(groups, group{})
					}
					groups[first+k].patches = append(groups[first+k].patches, i)
					c.of[i] = int32(first + k)
				}
			}
		}
	}
	for at[axes[0]] = 0; at[axes[0]] < size[axes[0]]; at[axes[0]] += side {
		for at[axes[1]] = 0; at[axes[1]] < size[axes[1]]; at[axes[1]] += side {
			for at[axes[2]] = 0; at[axes[2]] < size[axes[2]]; at[axes[2]] += side {
				block()
			}
		}
	}
	return groups
}

// guess sets vectors to about the lowest ones of the groups above the kernel, by inverse iteration.
func (c *coarse) guess(to [][]float64) error {
	const beside, steps = 3, 12
	n := c.kernel.Len()
	few := min(n, len(to)+beside)
	y := mat.NewDense(n, few, nil)
	for k := range few {
		for i := range n {
			y.Set(i, k, eigenmap.Uniform(uint64(k+1), uint64(i)))
		}
	}
	var part mat.VecDense
	for range steps {
		for k := range few { // orthonormal, and without the kernel
			own := y.ColView(k).(*mat.VecDense)
			for range 2 {
				own.AddScaledVec(own, -mat.Dot(own, c.kernel), c.kernel)
				for q := range k {
					part.CloneFromVec(y.ColView(q))
					own.AddScaledVec(own, -mat.Dot(own, &part), &part)
				}
			}
			if size := mat.Norm(own, 2); size > 0 {
				own.ScaleVec(1/size, own)
			}
		}
		var next mat.Dense
		if err := c.factors.SolveTo(&next, y); err != nil {
			return err
		}
		y.Copy(&next)
	}
	for k, v := range to {
		for i, group := range c.of {
			if k < few {
				v[i] = c.share[i] * y.At(int(group), k)
			} else { // there are no more groups
				v[i] = eigenmap.Uniform(uint64(k+1), uint64(i))
			}
		}
	}
	return nil
}

// solve is about the solution of Lx = f.
func (c *coarse) solve(f []float64) ([]float64, error) {
	rest := mat.NewVecDense(c.kernel.Len(), nil)
	for i, group := range c.of {
		rest.SetVec(int(group), rest.AtVec(int(group))+c.share[i]*f[i])
	}
	var x mat.VecDense
	if err := c.factors.SolveVecTo(&x, rest); err != nil {
		return nil, err
	}
	x.SubVec(&x, rest)
	out := make([]float64, len(f))
	for i, group := range c.of {
		out[i] = f[i] + c.share[i]*x.AtVec(int(group))
	}
	return out, nil
}
