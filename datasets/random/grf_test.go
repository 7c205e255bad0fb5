package random

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

func TestBoxWidths(t *testing.T) {
	for _, c := range []struct {
		smooth float64
		want   [3]int64
	}{
		{0.5, [3]int64{1, 1, 1}}, {0.6, [3]int64{1, 1, 3}}, {1, [3]int64{1, 3, 3}}, {1.5, [3]int64{3, 3, 3}},
		{2, [3]int64{3, 5, 5}}, {2.5, [3]int64{5, 5, 5}}, {4, [3]int64{7, 9, 9}}, {32, [3]int64{63, 65, 65}},
	} {
		if got := BoxWidths(c.smooth); got != c.want {
			t.Errorf("widths for %v: %v, want %v", c.smooth, got, c.want)
		}
	}
	// No other widths are nearer.
	for smooth := 0.5; smooth <= 32; smooth += 0.01 {
		off := math.Abs(effectiveSmoothness(smooth)*effectiveSmoothness(smooth) - smooth*smooth)
		for w := 1.; w < 70; w += 2 {
			for n := range 3 {
				two := float64(n)
				v := ((3-two)*(w*w-1) + two*((w+2)*(w+2)-1)) / 12
				if math.Abs(v-smooth*smooth) < off-1e-9 {
					t.Fatalf("smooth=%v: variance %v is nearer than that of %v", smooth, v, BoxWidths(smooth))
				}
			}
		}
	}
}

func TestBoxKernel(t *testing.T) {
	if got, want := boxKernel([3]int64{1, 3, 3}), []int64{1, 2, 3, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("kernel %v, want %v", got, want)
	}
	for _, smooth := range []float64{0.5, 1, 2, 7, 32} {
		var sum, second int64
		k := boxKernel(BoxWidths(smooth))
		for i, v := range k {
			d := int64(i - len(k)/2)
			sum += v
			second += d * d * v
		}
		got := math.Sqrt(float64(second) / float64(sum))
		if want := effectiveSmoothness(smooth); math.Abs(got-want) > 1e-12 {
			t.Errorf("smooth=%v: the kernel's deviation is %v, want %v", smooth, got, want)
		}
	}
}

// TestGRFIsConvolution compares voxels with the sum over the kernel of the noise around them,
// including voxels at the seams and corners of tiles.
func TestGRFIsConvolution(t *testing.T) {
	for _, c := range []struct {
		shape  string
		smooth float64
		n      int
	}{
		{"1x1", 2, 1}, {"40x30", 0.5, 50}, {"5000x300", 3, 50}, {"700x40x60", 2, 50},
		{"520x33x20", 3.9, 15}, {"520x33x20", 4, 15}, {"40x120x2", 7, 10}, {"600x50", 32, 20},
	} {
		s := fieldOf(t, c.shape, grid.Uint16, 65536, c.smooth, 11, vectors.Available()[0])
		g := s
		levels := fieldLevels(t, s)
		p := NewLattice(11, grfStream)
		kernel := boxKernel(BoxWidths(c.smooth))
		q := newQuantiser(kernel, g.shape.Dim(), 65536)
		if fits := q.most < 1<<32; fits != (g.lanes == 2) {
			t.Errorf("%s smooth=%v: %d sums per word, the largest is %d", c.shape, c.smooth, g.lanes, q.most)
		}
		halo := int64(len(kernel) / 2)
		convolve := func(x, y, z int64) (sum int64) {
			for kz, wz := range kernel {
				if g.shape.Dim() == 2 {
					kz, wz = int(halo), 1
				}
				for ky, wy := range kernel {
					for kx, wx := range kernel {
						x, y, z := x+int64(kx)-halo, y+int64(ky)-halo, z+int64(kz)-halo
						words := p.Block([4]uint32{uint32(x >> 2), uint32(y), uint32(z), p.Tag})
						sum += wx * wy * wz * int64(bits.OnesCount32(words[x&3]))
					}
				}
				if g.shape.Dim() == 2 {
					break
				}
			}
			return sum
		}
		r := rand.New(rand.NewPCG(1, 2))
		tiles := g.tiles(0, g.shape.Slices())
		for i := range c.n {
			// Corners of tiles, then anywhere.
			at := tiles.tile(r.Int64N(tiles.count()))
			x, row, m := at.x0, at.r0, at.m0
			if i%3 == 1 {
				x, row, m = at.x1-1, at.r1-1, at.m1-1
			} else if i%3 == 2 {
				x, row, m = at.x0+r.Int64N(at.x1-at.x0), at.r0+r.Int64N(at.r1-at.r0), at.m0+r.Int64N(at.m1-at.m0)
			}
			y, z := row, m
			if g.shape.Dim() == 2 {
				y, z = m, 0
			}
			got := levels[(z*g.shape.H+y)*g.shape.W+x]
			if want := q.level(uint64(convolve(x, y, z))); uint32(got) != want {
				t.Fatalf("%s smooth=%v: voxel x %d y %d z %d is on level %d, want %d", c.shape, c.smooth, x, y, z, got, want)
			}
		}
	}
}

// TestGRFIsGaussian compares mean, variance, kurtosis and the correlation of neighbours with those
// of binomial noise under the kernel. Limits are 4.5 standard errors, for the effective number of
// independent samples.
func TestGRFIsGaussian(t *testing.T) {
	for _, c := range []struct {
		shape  string
		smooth float64
	}{
		{"700x700", 0.5}, {"700x700", 1}, {"100x90x80", 0.5}, {"100x90x80", 1}, {"100x90x80", 2}, {"1000x1000", 4},
	} {
		s := fieldOf(t, c.shape, grid.Uint16, 65536, c.smooth, 5, vectors.Available()[0])
		shape, dim := s.Shape(), float64(s.Shape().Dim())
		levels := fieldLevels(t, s)
		value := func(i int) float64 { return (float64(levels[i])+0.5)*10/65536 - 5 }
		r := correlation(c.smooth)
		// sums of powers of the correlation over all offsets
		power := func(p float64) float64 {
			sum := 1.
			for _, v := range r[1:] {
				sum += 2 * math.Pow(v, p)
			}
			return math.Pow(sum, dim) / float64(len(levels))
		}
		var mean, square, fourth float64
		for i := range levels {
			v := value(i)
			mean += v
			square += v * v
			fourth += v * v * v * v
		}
		n := float64(len(levels))
		mean, square, fourth = mean/n, square/n, fourth/n
		var k2, k4 float64
		for _, v := range boxKernel(BoxWidths(c.smooth)) {
			k2 += float64(v * v)
			k4 += float64(v * v * v * v)
		}
		// A binomial of 32 halves has excess kurtosis −2/32.
		excess := -2. / 32 * math.Pow(k4/(k2*k2), dim)
		check := func(what string, got, want, err float64) {
			if math.Abs(got-want) > 4.5*err {
				t.Errorf("%s smooth=%v: %s is %.5f, want %.5f ± %.5f", c.shape, c.smooth, what, got, want, err)
			}
		}
		check("mean", mean, 0, math.Sqrt(power(1)))
		check("variance", square, 1, math.Sqrt(2*power(2)))
		check("fourth moment", fourth, 3+excess, math.Sqrt(72*power(2)+24*power(4)))
		for axis, step := range []int64{1, shape.W, shape.W * shape.H} {
			if axis == shape.Dim() {
				break
			}
			var sum, count float64
			for i := step; i < int64(len(levels)); i++ {
				// Differences across a border are few but large.
				z, y, x := shape.Coordinates(i)
				if [3]int64{x, y, z}[axis] == 0 {
					continue
				}
				d := value(int(i)) - value(int(i-step))
				sum += d * d
				count++
			}
			want := 2 * (1 - r[1])
			check(fmt.Sprintf("squared step along axis %d", axis), sum/count, want, want*math.Sqrt(2*power(2)))
		}
	}
}

// correlation returns the correlation of voxels at distance 0, 1, … along an axis.
func correlation(smooth float64) []float64 {
	k := boxKernel(BoxWidths(smooth))
	r := make([]float64, len(k)+1)
	for d := range k {
		for i := range k[d:] {
			r[d] += float64(k[i] * k[i+d])
		}
	}
	for d := len(r) - 1; d >= 0; d-- {
		r[d] /= r[0]
	}
	return r
}

// effectiveSmoothness returns the standard deviation, in voxels, of the kernel for smooth: three
// box filters of odd widths w that differ by at most 2, with the variance Σ(w²−1)/12 nearest to
// smooth². Of two equally near choices it is the larger.
func effectiveSmoothness(smooth float64) float64 {
	var twelve int64
	for _, w := range BoxWidths(smooth) {
		twelve += w*w - 1
	}
	return math.Sqrt(float64(twelve) / 12)
}

// fieldOf returns a Gaussian random field made with an instruction set.
func fieldOf(t testing.TB, shape string, typ grid.Type, levels int64, smooth float64, seed uint64, isa string) *Field {
	t.Helper()
	size, err := grid.ParseShape(shape)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewScale(typ, levels, 0, 1/float64(levels))
	if err != nil {
		t.Fatal(err)
	}
	s.Prepare()
	return NewField(size, s, levels, BoxWidths(smooth), seed, isa)
}

// fieldLevels returns the values of an image of uint16, which are its levels.
func fieldLevels(t testing.TB, s grid.Source) []uint16 {
	t.Helper()
	f, err := grid.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return grid.Values[uint16](f.Data())
}
