package windowed

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/workloads/eigenmap"
)

// A coarse is the graph of groups of patches that are similar and near each other. It preconditions
// the corrections. Vectors of low values are nearly constant on groups, except for a factor
// √degree. L hardly changes the rest of a vector, because rows of W have many weights. So the
// approximate solution of Lx = f is the groups' solution plus the rest of f. The weights of groups
// are those of their means: convergence is as fast as with sums of all weights.
type coarse struct {
	of      []int32       // of each patch: its entry in the unit vector of its group
	share   []float64     // by group
	kernel  *mat.VecDense // by groups
	factors mat.BandCholesky
}

// A group is some patches, with their means and the sum of their degrees.
type group struct {
	patches  []int
	at       [3]float64
	features []float64
	degree   float64
}

const (
	mostGroups = 4096
	// shift is added to the groups' matrix, because it has a kernel.
	shift = 1e-6
)

// coarsen makes the groups and factors their matrix.
func (g *graph) coarsen(p *eigenmap.Problem) (*coarse, error) {
	alike := float64(g.m) * p.Alpha * p.Alpha // squared distance with weight 1/e
	c := &coarse{of: make([]int32, g.n), share: make([]float64, g.n)}
	side, apart := max(2, int64(1.6*p.Beta)), alike
	groups := c.group(g, side, apart)
	for ; len(groups) > max(1, min(mostGroups, g.n/4)); groups = c.group(g, side, apart) {
		if apart *= 4; apart > 4*float64(g.m)*255*255 { // each block is one group
			side, apart = 2*side, alike
		}
	}
	c.setKernel(g, groups)

	// The weight of two blocks is that of their means, with the spread of the blocks added to the
	// variance of place.
	place := p.Beta*p.Beta + float64(side*side-1)/6
	n, width := len(groups), widest(groups, float64(window(p)+side))
	matrix, sums := mat.NewSymBandDense(n, width, nil), make([]float64, n)
	for k := range groups {
		for q := k; q < min(n, k+width+1); q++ {
			a, b := &groups[k], &groups[q]
			w := float64(len(a.patches)*len(b.patches)) * math.Exp(-squares(a.features, b.features)/alike-squares(a.at[:],
				b.at[:])/(2*place))
			matrix.SetSymBand(k, q, w)
			if sums[k] += w; q > k {
				sums[q] += w
			}
		}
	}
	// Means can be far more similar than patches, for example in noise. Scale the weights so that
	// they sum to the degrees.
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

// setKernel sets the means of the groups, and the kernel of their matrix.
func (c *coarse) setKernel(g *graph, groups []group) {
	c.kernel = mat.NewVecDense(len(groups), nil)
	for k := range groups {
		g.mean(&groups[k])
		for _, i := range groups[k].patches {
			c.share[i] = math.Sqrt(g.degree[i] / groups[k].degree)
		}
		c.kernel.SetVec(k, math.Sqrt(groups[k].degree))
	}
	c.kernel.ScaleVec(1/mat.Norm(c.kernel, 2), c.kernel)
}

// widest returns the largest distance in the list of two groups within reach of each other.
func widest(groups []group, reach float64) int {
	width := 0
	for k := range groups {
		for q := len(groups) - 1; q > k+width; q-- {
			if groups[k].isNear(&groups[q], reach) {
				width = q - k
			}
		}
	}
	return width
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

// squares returns the squared distance.
func squares(a, b []float64) (sum float64) {
	for k, v := range a {
		sum += (v - b[k]) * (v - b[k])
	}
	return sum
}

// group assigns each patch to a group. A group contains patches of one block, with the given side,
// whose distance to its first patch is at most apart. Numbers run along the shortest axes first, so
// that near groups have near numbers.
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

// guess sets vectors to approximations of the groups' lowest ones above the kernel, by inverse
// iteration.
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

// solve returns an approximate solution of Lx = f.
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
