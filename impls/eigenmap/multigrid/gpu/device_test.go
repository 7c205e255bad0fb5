package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"eccbench/impls/eigenmap/multigrid"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/verify"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func onHost(t testing.TB, fault string) resident.Opener {
	return ecctest.Modules(t, fault, "eigenmap_grid")
}

// An image and a volume whose levels have odd and even numbers of cells. The image has a guess from
// a coarser level.
const (
	flat   = "eigenmap/k=4/tol=4/sigma=300/floor=1000/corners=0/plain=0/of=grf/shape=59x43/levels=1024/type=float32/smooth=2/seed=3"
	volume = "eigenmap/k=3/tol=6/sigma=300/floor=1000/corners=0/plain=1/of=grf/shape=9x8x7/levels=1024/type=float32/smooth=2/seed=3"
	touch  = "eigenmap/k=3/tol=6/sigma=300/floor=1000/corners=1/plain=0/of=noise/shape=9x8x7/levels=16/type=uint8/seed=3"
	around = "eigenmap/k=3/tol=6/sigma=300/floor=1000/corners=0/plain=0/radius=3/of=noise/shape=33x2/levels=16/type=uint8/seed=3"
)

func TestKernelsOnHost(t *testing.T) {
	eigentest.Kernels(t, eigenmap.OnGrid, OnDevice{Open: onHost(t, "")}, true, flat, volume, touch, around)
}

// asked returns the adversarial inputs that are not rejected.
func asked(t *testing.T, i OnDevice) (names []string) {
	for _, name := range append(eigenmap.OnGrid().Adversarial, flat, volume, touch, around) {
		if err := i.CanDo(open(t, name), bench.Conditions{}); err == nil {
			names = append(names, name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	return names
}

func TestKernelsOnDevice(t *testing.T) {
	i, names := OnDevice{Open: ecctest.Device(t)}, []string{flat, volume, touch, around}
	if !testing.Short() {
		names = asked(t, i)
	}
	eigentest.Kernels(t, eigenmap.OnGrid, i, false, names...)
}

// Faults of the kernels that change the graph or the sums. If nothing converges after a fault, that is detected once the right implementation has converged.
func TestFaultsAreSeenOnHost(t *testing.T) {
	const most = 10
	for _, f := range []struct {
		planted string
		wrong   bool
	}{{"", false}, {"plane", true}, {"part", true}, {"degree", true}} {
		t.Run(f.planted, func(t *testing.T) {
			i := OnDevice{Open: onHost(t, f.planted), most: most}
			name := volume
			if f.planted == "degree" {
				name = touch
			}
			p := open(t, name)
			m, err := bench.Answer(i, p, bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel}})
			if err != nil {
				if t.Log(err); !f.wrong || !strings.Contains(err.Error(), "leave residuals") && !strings.Contains(err.Error(), "are independent") {
					t.Error("no answer")
				}
				return
			}
			var n judgedtest.Count
			judgedtest.Add(t, &n, eigenmap.OnGrid().Policy, verify.Question[*eigenmap.Problem, eigenmap.Map]{Name: name, In: p, Out: m, Budget: 1 << 40})
			if n.Wrong == 1 != f.wrong {
				t.Errorf("the answer is found %+v", n)
			}
		})
	}
}

// A wrong cycle also gives a right answer, after more iterations. The remainder of the equations
// after a few cycles reveals it.
func TestCyclesConvergeOnHost(t *testing.T) {
	for _, name := range []string{flat, volume} {
		for fault, wrong := range map[string]bool{"": false, "sign": true} {
			if share := unsolved(t, setUp(t, OnDevice{Open: onHost(t, fault)}, name)); share > 1e-3 != wrong {
				t.Errorf("%s, fault %q: %g is left", name, fault, share)
			}
		}
	}
}

// unsolved returns the relative remainder of random equations after three cycles.
func unsolved(t *testing.T, j *deviceJob) float64 {
	l := j.levels[0]
	rng, f := rand.New(rand.NewPCG(1, 1)), make([]float32, multigrid.Lanes*l.cells())
	for i := range len(f) / 2 / multigrid.Lanes * multigrid.Lanes { // zero sums
		f[i] = rng.Float32() - 0.5
		f[len(f)-multigrid.Lanes+i%multigrid.Lanes-i/multigrid.Lanes*multigrid.Lanes] = -f[i]
	}
	size := func(list []float32) (sum float64) {
		for _, v := range list {
			sum += float64(v) * float64(v)
		}
		return math.Sqrt(sum)
	}
	rest, x, part := slices.Clone(f), make([]float32, len(f)), make([]float32, len(f))
	if err := j.build(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := errors.Join(
			j.Stream.Upload(l.f, 0, grid.Bytes(rest)),
			j.cycle(0, sweeps, l.w[0]),
			j.Stream.Download(grid.Bytes(part), l.w[0], 0))
		for i, v := range part {
			x[i] += v
		}
		if err := errors.Join(err,
			j.Stream.Upload(l.f, 0, grid.Bytes(f)), j.Stream.Upload(l.u, 0, grid.Bytes(x)),
			j.march(gridRemain, l, l.narrow, l.f, l.u, l.w[0]),
			j.Stream.Download(grid.Bytes(rest), l.w[0], 0)); err != nil {
			t.Fatal(err)
		}
	}
	return size(rest) / size(f)
}

// Links and masses of all levels agree with the CPU's; coarser links of thin tubes are not too
// weak.
func TestLevelsAreThoseOfTheCPUOnHost(t *testing.T) {
	for fault, wrong := range map[string]bool{"": false, "weak": true} {
		testLevels(t, onHost(t, fault), wrong)
	}
}

func TestLevelsAreThoseOfTheCPUOnDevice(t *testing.T) { testLevels(t, ecctest.Device(t), false) }

func testLevels(t *testing.T, open resident.Opener, wrong bool) {
	for _, name := range []string{
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=tubes/shape=31x28x17/levels=256/type=uint8/seed=1",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=tubes/shape=67x45/levels=256/type=uint8/seed=1",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=1/plain=0/of=tubes/shape=19x17x18/levels=256/type=uint8/seed=1",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/radius=3/of=tubes/shape=37x29/levels=256/type=uint8/seed=1",
	} {
		j := setUp(t, OnDevice{Open: open}, name)
		if err := j.build(); err != nil {
			t.Fatal(err)
		}
		masses, linked, err := multigrid.Levels(j.p, len(j.levels))
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		near := func(want []float64, from device.Buffer, at int64) {
			got := make([]float64, len(want))
			if err := j.Stream.Download(grid.Bytes(got), from, 8*at); err != nil {
				t.Fatal(err)
			}
			for i, v := range want {
				worst = max(worst, math.Abs(v-got[i])/(math.Abs(v)+1e-9))
			}
		}
		axes := []int{0, 1, 2}
		if j.p.Shape().D == 1 { // rows are processed like planes
			axes = []int{0, 2, 1}
		}
		for k, on := range j.levels {
			near(masses[k], on.mass, 0)
			links := on.links
			if k == 0 && len(j.offsets) > 0 {
				links = j.supported
			}
			for a, axis := range axes {
				near(linked[k][a], links, int64(axis)*on.cells())
			}
		}
		if worst > 1e-4 != wrong {
			t.Errorf("%s: links and masses are off by up to %g of themselves", name, worst)
		}
	}
}

// The cycle of small levels in one block agrees with separate launches.
func TestTailOnHost(t *testing.T) {
	for fault, wrong := range map[string]bool{"": false, "brief": true} {
		testTail(t, onHost(t, fault), wrong)
	}
}

func TestTailOnDevice(t *testing.T) { testTail(t, ecctest.Device(t), false) }

func testTail(t *testing.T, open resident.Opener, wrong bool) {
	for _, name := range []string{flat, volume} {
		j := setUp(t, OnDevice{Open: open}, name)
		if err := j.build(); err != nil {
			t.Fatal(err)
		}
		if j.tail != 0 {
			t.Fatalf("%s: the first level of a block is %d", name, j.tail)
		}
		for k, l := range j.levels[:len(j.levels)-1] {
			f := make([]float32, multigrid.Lanes*l.cells())
			for i := range f {
				f[i] = float32(eigenmap.Uniform(uint64(k), uint64(i)))
			}
			var got [2][]float32
			for by, tail := range []int{0, len(j.levels)} {
				got[by], j.tail = make([]float32, len(f)), tail
				if err := errors.Join(j.Stream.Upload(l.f, 0, grid.Bytes(f)), j.cycle(k, sweeps, l.w[0]), j.Stream.Download(grid.Bytes(got[by]), l.w[0], 0)); err != nil {
					t.Fatal(err)
				}
			}
			worst, top := 0.0, 0.0
			for i, v := range got[1] {
				worst, top = max(worst, math.Abs(float64(v-got[0][i]))), max(top, math.Abs(float64(v)))
			}
			if worst > 1e-4*top != wrong {
				t.Errorf("%s, level %d: a block's cycle is off by %g of %g", name, k, worst, top)
			}
		}
	}
}

// Combinations of up to three groups of four agree with their coefficients, without the kernel's
// part.
func TestCombineOnHost(t *testing.T) {
	const cells = 300 // more than a block
	rng := rand.New(rand.NewPCG(1, 1))
	d, err := onHost(t, "")("")
	if err != nil {
		t.Fatal(err)
	}
	for fours := 1; fours <= mostQuads; fours++ {
		program, err := resident.NewProgram(d, "combine", "eigenmap_grid", fmt.Sprint(gridCombine, fours))
		if err != nil {
			t.Fatal(err)
		}
		j, l, n := &deviceJob{Program: program, masses: 2}, &deviceLevel{nx: cells, ny: 1, nz: 1, quads: fours}, multigrid.Lanes*fours
		alloc := func(bytes int) device.Buffer {
			b := j.Alloc("vectors", int64(bytes))
			if err := j.Err(); err != nil {
				t.Fatal(err)
			}
			return b
		}
		j.coefficients = alloc(8 * n * (3*n + 2))
		var x [][]float64
		var w, p [][]float32
		for range fours {
			l.x, l.w, l.p = append(l.x, alloc(8*multigrid.Lanes*cells)), append(l.w, alloc(4*multigrid.Lanes*cells)), append(l.p, alloc(4*multigrid.Lanes*cells))
			wide, narrow := make([]float64, multigrid.Lanes*cells), [2][]float32{make([]float32, multigrid.Lanes*cells), make([]float32, multigrid.Lanes*cells)}
			for i := range wide {
				wide[i], narrow[0][i], narrow[1][i] = rng.Float64(), rng.Float32(), rng.Float32()
			}
			x, w, p = append(x, wide), append(w, narrow[0]), append(p, narrow[1])
		}
		c, kernel := mat.NewDense(3*n, n, nil), make([]float64, 3*n)
		for r := range kernel {
			kernel[r] = rng.Float64()
			for k := range n {
				c.Set(r, k, rng.Float64())
			}
		}
		for q := range fours {
			err = errors.Join(err, resident.Write(j.Stream, l.x[q], 0, x[q]), j.Stream.Upload(l.w[q], 0, grid.Bytes(w[q])), j.Stream.Upload(l.p[q], 0, grid.Bytes(p[q])))
		}
		if err := errors.Join(err, j.combine(l, c, kernel)); err != nil {
			t.Fatal(err)
		}
		for q := range fours {
			gotX, gotP := make([]float64, multigrid.Lanes*cells), make([]float32, multigrid.Lanes*cells)
			if err := errors.Join(resident.Read(j.Stream, gotX, l.x[q], 0), j.Stream.Download(grid.Bytes(gotP), l.p[q], 0)); err != nil {
				t.Fatal(err)
			}
			for i := range gotX {
				wantX, wantP, cell, lane := 0.0, 0.0, i/multigrid.Lanes*multigrid.Lanes, multigrid.Lanes*q+i%multigrid.Lanes
				for r := range n {
					from, at := r/multigrid.Lanes, cell+r%multigrid.Lanes
					wantX += c.At(r, lane) * (x[from][at] - kernel[r]/j.masses)
					wantP += c.At(n+r, lane)*(float64(w[from][at])-kernel[n+r]/j.masses) + c.At(2*n+r, lane)*(float64(p[from][at])-kernel[2*n+r]/j.masses)
				}
				if wantX += wantP; math.Abs(wantX-gotX[i]) > 1e-12*float64(n) || math.Abs(wantP-float64(gotP[i])) > 1e-6*float64(n) {
					t.Fatalf("%d fours, number %d of four %d: %v and %v, want %v and %v", fours, i, q, gotX[i], gotP[i], wantX, wantP)
				}
			}
		}
		if err := j.Program.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Restriction is the transpose of interpolation, so that a cycle is a symmetric operator.
func TestRestrictionIsTheTransposeOnHost(t *testing.T) {
	for _, name := range []string{flat, volume} {
		for fault, wrong := range map[string]bool{"": false, "adjoint": true} {
			if worst := transposed(t, setUp(t, OnDevice{Open: onHost(t, fault)}, name)); worst > 1e-5 != wrong {
				t.Errorf("%s, fault %q: products differ by %g", name, fault, worst)
			}
		}
	}
}

// transposed returns the largest difference of ⟨Pu, v⟩ and ⟨u, Rv⟩ over all levels.
func transposed(t *testing.T, j *deviceJob) (worst float64) {
	if err := j.build(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	random := func(to device.Buffer) []float32 {
		list := make([]float32, to.Bytes()/4)
		for i := range list {
			list[i] = rng.Float32() - 0.5
		}
		if err := j.Stream.Upload(to, 0, grid.Bytes(list)); err != nil {
			t.Fatal(err)
		}
		return list
	}
	read := func(from device.Buffer) []float32 {
		list := make([]float32, from.Bytes()/4)
		if err := j.Stream.Download(grid.Bytes(list), from, 0); err != nil {
			t.Fatal(err)
		}
		return list
	}
	for k, l := range j.levels[:len(j.levels)-1] {
		c := j.levels[k+1]
		u, v := random(c.w[0]), random(l.w[0])
		if err := errors.Join(j.Stream.Fill(l.u, 0, l.u.Bytes(), 0), j.interpolate(l, c), j.restrict(l, c, l.w[0])); err != nil {
			t.Fatal(err)
		}
		one, other, size := 0.0, 0.0, 0.0
		for i, p := range read(l.u) {
			one += float64(p) * float64(v[i])
			size += math.Abs(float64(p) * float64(v[i]))
		}
		for i, r := range read(c.f) {
			other += float64(r) * float64(u[i])
		}
		worst = max(worst, math.Abs(one-other)/size)
	}
	return worst
}

func TestRefusalsOfDevices(t *testing.T) {
	i := OnDevice{Open: ecctest.Modules(t, "")}
	eigentest.Refusals(t, i, eigenmap.OnGrid, "eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=12x11x10/type=uint8/seed=5",
		map[string]bench.Conditions{"1320 voxels × 2² × 20 ns": {Time: 1}, "vectors of 1320 numbers": {Memory: 1000}})
	for name, why := range map[string]string{
		"k=4/tol=6/sigma=100/floor=0/corners=0/plain=0/of=noise/shape=12x11/type=uint8":    "floor of 0",
		"k=9/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=32x31/type=uint8": "up to 8 pairs",
		"k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=6x6/type=uint8":   "36 voxels are too few",
	} {
		if err := i.CanDo(open(t, "eigenmap/"+name), bench.Conditions{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", name, err, why)
		}
	}
}

// products are the kernels of the product on a grid of random values.
type products struct {
	*resident.Program
	l                        *deviceLevel
	image, packed, from, to  device.Buffer
	values, vectors, product []float32
}

const sigma, floor = 0.3, 0.001

func newProducts(t testing.TB, open resident.Opener, nx, ny, nz int64) *products {
	t.Helper()
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	p := &products{l: &deviceLevel{nx: nx, ny: ny, nz: nz}}
	if p.Program, err = resident.NewProgram(d, "products", "eigenmap_product", "eigenmap_product_plain", "eigenmap_product_normalised", "eigenmap_product_scale"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	n := p.l.cells()
	p.l.marchShape = p.l.marching()
	p.values, p.vectors, p.product = make([]float32, n), make([]float32, multigrid.Lanes*n), make([]float32, multigrid.Lanes*n)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range p.values {
		p.values[i] = rng.Float32()
	}
	for i := range p.vectors {
		p.vectors[i] = rng.Float32() - 0.5
	}
	for _, b := range []struct {
		to    *device.Buffer
		bytes int64
	}{{&p.image, 4 * n}, {&p.packed, 8 * n}, {&p.from, 4 * multigrid.Lanes * n}, {&p.to, 4 * multigrid.Lanes * n}} {
		if *b.to = p.Alloc("product", b.bytes); p.Err() != nil {
			t.Fatal(p.Err())
		}
	}
	if err := errors.Join(p.Stream.Upload(p.image, 0, grid.Bytes(p.values)), p.Stream.Upload(p.from, 0, grid.Bytes(p.vectors)),
		p.Launch("eigenmap_product_scale", grid.CeilDiv(n, gridBlock), gridBlock, 0, append(p.l.size(), p.image, p.packed, p.over(), float32(floor))...)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *products) over() float32 { return float32(-math.Log2E / (sigma * sigma)) }

func (p *products) launch(normalised bool) error {
	s := p.l.marchShape
	kernel, image := "eigenmap_product_plain", p.image
	if normalised {
		kernel, image = "eigenmap_product_normalised", p.packed
	}
	return p.Launch(kernel, s.blocks, s.threads, 0, append(p.l.space(s), image, p.from, p.to, p.over(), float32(floor))...)
}

// off returns the error of the product against the definition in float64, relative to the largest
// number.
func (p *products) off(t testing.TB, normalised bool) float64 {
	t.Helper()
	if err := errors.Join(p.launch(normalised), p.Stream.Download(grid.Bytes(p.product), p.to, 0)); err != nil {
		t.Fatal(err)
	}
	l := p.l
	n, worst, top := int(l.cells()), 0.0, 0.0
	each := func(i int, f func(j int, w float64)) {
		at, size, stride := [3]int{i % int(l.nx), i / int(l.nx) % int(l.ny), i / int(l.nx*l.ny)}, [3]int{int(l.nx), int(l.ny), int(l.nz)}, [3]int{1, int(l.nx), int(l.nx * l.ny)}
		for a := range at {
			for _, side := range []int{-1, 1} {
				if k := at[a] + side; k >= 0 && k < size[a] {
					j := i + side*stride[a]
					d := float64(p.values[i]) - float64(p.values[j])
					f(j, math.Exp(-d*d/(sigma*sigma))+floor)
				}
			}
		}
	}
	scale := make([]float64, n)
	for i := range scale {
		if scale[i] = 1; normalised {
			degree := 0.0
			each(i, func(_ int, w float64) { degree += w })
			scale[i] = 1 / math.Sqrt(degree)
		}
	}
	for i := range n {
		var want [multigrid.Lanes]float64
		each(i, func(j int, w float64) {
			for k := range want {
				want[k] += w * scale[i] * (scale[i]*float64(p.vectors[multigrid.Lanes*i+k]) - scale[j]*float64(p.vectors[multigrid.Lanes*j+k]))
			}
		})
		for k, v := range want {
			worst, top = max(worst, math.Abs(v-float64(p.product[multigrid.Lanes*i+k]))), max(top, math.Abs(v))
		}
	}
	return worst / top
}

// The product agrees with the definition, up to rounding in float32 and the scale by a power of
// two.
func TestProductOnHost(t *testing.T) {
	for fault, wrong := range map[string]bool{"": false, "plane": true} {
		testProduct(t, ecctest.Modules(t, fault, "eigenmap_product"), wrong)
	}
}

func TestProductOnDevice(t *testing.T) { testProduct(t, ecctest.Device(t), false) }

func testProduct(t *testing.T, open resident.Opener, wrong bool) {
	for _, size := range [][3]int64{{37, 9, 70}, {45, 1, 200}, {1, 7, 3}, {8, 1, 1}} {
		p := newProducts(t, open, size[0], size[1], size[2])
		for _, normalised := range []bool{false, true} {
			if off := p.off(t, normalised); off > 1e-5 != (wrong && size[2] > 1) {
				t.Errorf("%v, normalised %v, lost links %v: off by %g", size, normalised, wrong, off)
			}
		}
	}
}

// timed returns the time of a launch in milliseconds by the device's events, over ten launches.
func timed(b testing.TB, p *resident.Program, launch func() error) float64 {
	b.Helper()
	const times = 10
	if err := errors.Join(launch(), p.Timed(func() error {
		for range times {
			if err := launch(); err != nil {
				return err
			}
		}
		return nil
	}), p.Stream.Wait()); err != nil {
		b.Fatal(err)
	}
	took, err := p.Elapsed()
	if err != nil {
		b.Fatal(err)
	}
	return took.Seconds() * 1e3 / times
}

func BenchmarkProductOnDevice(b *testing.B) {
	open := ecctest.Device(b)
	for _, size := range [][3]int64{{512, 512, 512}, {256, 256, 256}, {2048, 1, 2048}} {
		p := newProducts(b, open, size[0], size[1], size[2])
		for _, length := range []int64{4, 8, 16, 32, 64, 128} {
			s := &p.l.marchShape
			high := s.threads >> s.across
			if s.length, s.blocks = length, grid.CeilDiv(size[0], 1<<s.across); size[1] > 1 {
				s.blocks *= grid.CeilDiv(size[1], high) * grid.CeilDiv(size[2], length)
			} else {
				s.blocks *= grid.CeilDiv(size[2], high*length)
			}
			for _, normalised := range []bool{false, true} {
				b.Run(fmt.Sprintf("%v/normalised=%v/planes=%d", size, normalised, length), func(b *testing.B) {
					ms := 0.0
					for range b.N {
						ms = timed(b, p.Program, func() error { return p.launch(normalised) })
					}
					b.ReportMetric(ms, "device-ms")
					b.ReportMetric(float64(p.l.cells()*multigrid.Lanes)/ms/1e6, "Gvox·vector/s")
				})
			}
		}
	}
}

func setUp(t testing.TB, i OnDevice, name string) *deviceJob {
	t.Helper()
	return ecctest.SetUp(t, i, open(t, name), bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel}}).(*deviceJob)
}

const benchmarked = "eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of="

// BenchmarkStepsOnDevice reports the time of each kernel on the finest level, and of a cycle.
func BenchmarkStepsOnDevice(b *testing.B) {
	open := ecctest.Device(b)
	for _, of := range []string{"grf/shape=512x512/levels=1024/type=float32/smooth=3/seed=1", "grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1", "grf/shape=256x256x256/levels=1024/type=float32/smooth=2/seed=1"} {
		b.Run(of, func(b *testing.B) {
			j := setUp(b, OnDevice{Open: open}, benchmarked+of)
			if err := j.Do(nil); err != nil {
				b.Fatal(err)
			}
			l, c := j.levels[0], j.levels[1]
			coefficients := mat.NewDense(3*multigrid.Lanes*l.quads, multigrid.Lanes*l.quads, nil)
			for range b.N {
				for name, launch := range map[string]func() error{
					"residual":    func() error { return j.setResidual(l, 0) },
					"start":       func() error { return j.march(gridStart, l, l.narrow, l.inv, l.f, l.w[0]) },
					"sweep":       func() error { return j.march(gridSweep, l, l.narrow, l.inv, l.f, l.w[0], l.u, int32(3), int32(0)) },
					"remain":      func() error { return j.march(gridRemain, l, l.narrow, l.f, l.u, l.w[0]) },
					"restrict":    func() error { return j.restrict(l, c, l.w[0]) },
					"interpolate": func() error { return j.interpolate(l, c) },
					"cycle":       func() error { return j.cycle(0, sweeps, l.w[0]) },
					"cycle-often": func() error { return j.cycle(0, oftenSweeps, l.w[0]) },
					"cycle-below": func() error { return j.cycle(1, sweeps, c.w[0]) },
					"products":    func() error { _, _, _, err := j.products(l, l.basis(true, true)); return err },
					"combine":     func() error { return j.combine(l, coefficients, make([]float64, 3*multigrid.Lanes*l.quads)) },
					"build":       j.build,
				} {
					b.ReportMetric(timed(b, j.Program, launch), name+"-ms")
				}
			}
		})
	}
}

// BenchmarkGridOnDevice reports the time of an answer by the device's events.
func BenchmarkGridOnDevice(b *testing.B) {
	open := ecctest.Device(b)
	for _, of := range []string{
		"grf/shape=512x512/levels=1024/type=float32/smooth=3/seed=1", "tubes/shape=512x512/levels=256/type=uint8/seed=1",
		"grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1", "tubes/shape=64x64x64/levels=256/type=uint8/seed=1",
		"grf/shape=256x256x256/levels=1024/type=float32/smooth=2/seed=1", "tubes/shape=256x256x256/levels=256/type=uint8/seed=1",
		"grf/shape=512x512x512/levels=1024/type=float32/smooth=2/seed=1",
	} {
		b.Run(of, func(b *testing.B) {
			j := setUp(b, OnDevice{Open: open}, benchmarked+of)
			trace, least := &bench.Trace{}, math.Inf(1)
			for b.Loop() {
				if err := j.Do(trace); err != nil {
					b.Fatal(err)
				}
				took, err := j.Elapsed()
				if err != nil {
					b.Fatal(err)
				}
				least = min(least, took.Seconds()*1e3)
			}
			b.ReportMetric(least, "device-ms")
			b.ReportMetric(float64(j.iterations), "iterations")
			b.ReportMetric(float64(j.levels[0].quads), "fours")
			for part, seconds := range trace.Spans() {
				b.ReportMetric(seconds*1e3/float64(b.N), part+"-ms")
			}
		})
	}
}

func open(t testing.TB, name string) *eigenmap.Problem {
	t.Helper()
	p, err := eigenmap.OnGrid().Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
