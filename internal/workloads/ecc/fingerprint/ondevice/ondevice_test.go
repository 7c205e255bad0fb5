package ondevice_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/ecc/fingerprint/ondevice"
	"eccbench/kernels/hosttest"
)

// images cover sizes around the kernels' rows and columns, and tables in shared memory and outside
// it. Levels come from arithmetic, from values and from a search; values lie on, between and above
// them.
var images = []string{
	"noise/shape=129x5x4/type=uint8/seed=1", "noise/shape=128x4x3/type=uint8/levels=5/seed=2", "noise/shape=3x9x70/type=uint8/seed=3",
	"noise/shape=260x150/type=uint8/seed=4", "noise/shape=1x1/type=uint8/seed=5", "noise/shape=127x3x2/type=int16/levels=1000/seed=6",
	"noise/shape=132x8x3/type=int16/seed=7", "noise/shape=131x9x5/type=uint16/seed=8", "noise/shape=64x5x4/type=uint16/levels=3000/seed=9",
	"noise/shape=132x6x4/type=float32/levels=512/seed=10", "noise/shape=17x6x4/type=float32/levels=1000/step=0.1/seed=11", "between/shape=33x34x5/levels=300/seed=12",
	"noise/shape=9x8x7/levels=64/type=float32/step=1e-13/seed=13", "noise/shape=140x7x3/type=float32/levels=40000/seed=14",
	"noise/shape=129x11/type=uint16/seed=15", "noise/shape=300x30/type=float32/levels=700/seed=16", "between/shape=33x10/levels=5000/seed=17",
}

// conventions with the greatest values, with the least, and with periodic axes.
var conventions = []fingerprint.Convention{
	{}, {Vertices: true}, {Superlevel: true}, {Vertices: true, Superlevel: true},
	{Periodic: grid.Axes{X: true}}, {Periodic: grid.Axes{Y: true}, Vertices: true}, {Periodic: grid.Axes{X: true, Y: true, Z: true}},
}

// kernelsOnHost are the kernels, with a defect or none, on a stand-in for a device.
func kernelsOnHost(t *testing.T, fault string) resident.Opener {
	var modules []string
	for _, typ := range grid.Types() {
		modules = append(modules, fmt.Sprintf("fingerprint_%v", typ))
	}
	driver := devicetest.New(1, hosttest.Modules(t, fault, modules...))
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

func TestOnHost(t *testing.T)   { testSums(t, kernelsOnHost(t, "")) }
func TestOnDevice(t *testing.T) { testSums(t, ecctest.Device(t)) }

// The device has the processor's sums, of two functions.
func testSums(t *testing.T, open resident.Opener) {
	for i, name := range images {
		_, f := ecctest.Open(t, name)
		if same, said := alike(t, open, masked(t, f), fingerprint.Draw(1).WithConvention(fingerprint.Convention{Masked: true})); !same {
			t.Errorf("%s, masked: %s", name, said)
		}
		for c, in := range conventions {
			if c > 0 && i%len(conventions) != c && i > 4 || in.Periodic.Check(f.Shape()) != nil {
				continue
			}
			if same, said := alike(t, open, f, fingerprint.Draw(2).WithConvention(in)); !same {
				t.Errorf("%s, %+v: %s", name, in, said)
			}
		}
	}
	for i, shape := range []grid.Shape{{W: 131, H: 9, D: 6}, {W: 132, H: 8, D: 5}, {W: 260, H: 37, D: 1}} {
		f := anyFloats(t, shape)
		for c, in := range conventions {
			if c > 3 && (c+i)%2 > 0 || in.Periodic.Check(shape) != nil {
				continue
			}
			if same, said := alike(t, open, f, fingerprint.Draw(2).WithConvention(in)); !same {
				t.Errorf("every float32, %v, %+v: %s", shape, in, said)
			}
		}
		if same, said := alike(t, open, masked(t, f), fingerprint.Draw(1).WithConvention(fingerprint.Convention{Masked: true})); !same {
			t.Errorf("every float32, %v, masked: %s", shape, said)
		}
	}
}

// anyFloats returns an image on the ladder of every float32: numbers of all bit patterns, many of
// them equal or adjacent, both zeros, and the least and the greatest.
func anyFloats(t *testing.T, s grid.Shape) *grid.Field {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(s.W), 1))
	values := []float32{math.MaxFloat32, -math.MaxFloat32, 0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32}
	for int64(len(values)) < s.Voxels() {
		v := math.Float32frombits(random.Uint32())
		switch random.IntN(4) {
		case 0:
			v = values[random.IntN(len(values))]
		case 1:
			v = math.Nextafter32(values[len(values)-1], 0)
		}
		if v-v == 0 { // finite
			values = append(values, v)
		}
	}
	f, err := grid.Trusted(s, grid.Float32, grid.Bytes(values), grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The chosen number of segments has the least cost.
func TestSegments(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := grid.Shape{W: 1 + random.Int64N(3000), H: 1 + random.Int64N(20000), D: 1}
		positions := s.H + 1
		if random.IntN(2) == 0 {
			s.H, s.D = 1+random.Int64N(2000), 2+random.Int64N(2000)
			positions = 1 + random.Int64N(s.D+1)
		}
		if length, cost, least := ondevice.Segment(s, 4+random.Int64N(2), positions, 1+random.Int64N(3000)); cost > least || length < 1 {
			t.Errorf("%v, %d positions: segments of %d cost %v, others %v", s, positions, length, cost, least)
		}
	}
}

// masked returns an image with some voxels outside.
func masked(t *testing.T, f *grid.Field) grid.Source {
	t.Helper()
	_, mask := ecctest.Open(t, fmt.Sprintf("noise/shape=%v/type=uint8/levels=2/seed=1", f.Shape()))
	m, err := views.Mask(f, mask)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func alike(t *testing.T, open resident.Opener, f grid.Source, k fingerprint.Key) (same bool, said string) {
	t.Helper()
	want, err := fingerprint.Compute(f, k, 2)
	if err != nil {
		t.Fatal(err)
	}
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	o, err := ondevice.Open(d, f, k)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	image, err := resident.Put(d, o.NewStream("upload"), f)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	got, err := o.Compute(image)
	if err != nil {
		t.Fatal(err)
	}
	return got.Equal(want), fmt.Sprintf("key %v: %v, want %v", k, got, want)
}

// Each defect of the kernels shows in some image.
func TestFaultsOnHost(t *testing.T) {
	for _, fault := range []string{"seam", "row", "segment", "outside", "sign", "tie", "lanes", "between", "last", "cross", "step"} {
		open, caught := kernelsOnHost(t, fault), 0
		for _, name := range []string{images[0], images[3], images[5], images[8], images[11]} {
			_, f := ecctest.Open(t, name)
			for _, in := range []grid.Source{f, masked(t, f)} {
				if same, _ := alike(t, open, in, fingerprint.Draw(1)); !same {
					caught++
				}
			}
		}
		if caught == 0 {
			t.Errorf("no image shows the fault %s", fault)
		}
	}
}

// everyLevel is before the names of images on the ladder of every float32.
const everyLevel = "every float32 of "

type onEvery struct{ grid.Source }

func (onEvery) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

// The rate of a fingerprint of an image on the device, until the host has the sum, and the rate of
// the launches alone.
func BenchmarkOf(b *testing.B) {
	d, err := ecctest.Device(b)("")
	if err != nil {
		b.Fatal(err)
	}
	s, err := d.NewStream("upload")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{
		"noise/shape=1024x1024x1024/type=uint8/seed=1", "noise/shape=1021x1023x1024/type=uint8/seed=1", "noise/shape=32768x32768/type=uint8/seed=1",
		"noise/shape=1024x1024x512/type=int16/levels=1024/seed=1", "noise/shape=1024x1024x512/type=uint16/seed=1", "grf/shape=512x512x512/type=uint16/smooth=2/seed=1",
		"noise/shape=1021x1023x512/type=uint16/seed=1", "noise/shape=1024x1024x512/type=float32/levels=512/seed=1",
		"grf/shape=512x512x512/type=float32/levels=1024/smooth=2/seed=1", "noise/shape=512x512x512/type=float32/levels=1000/step=0.1/seed=1",
		"noise/shape=1024x1024x512/type=float32/levels=40000/seed=1", everyLevel + "noise/shape=1024x1024x512/type=float32/levels=40000/seed=1",
		everyLevel + "grf/shape=512x512x512/type=float32/levels=1024/smooth=2/seed=1",
	} {
		b.Run(name, func(b *testing.B) {
			file, every := strings.CutPrefix(name, everyLevel)
			src, err := datasets.Open(file)
			if err != nil {
				b.Fatal(err)
			}
			defer grid.Close(src)
			if every {
				src = onEvery{src}
			}
			image, err := resident.Put(d, s, src)
			if err != nil {
				b.Fatal(err)
			}
			defer image.Close()
			o, err := ondevice.Open(d, src, fingerprint.Draw(1))
			if err != nil {
				b.Fatal(err)
			}
			defer o.Close()
			for b.Loop() {
				if _, err := o.Compute(image); err != nil {
					b.Fatal(err)
				}
			}
			voxels := float64(src.Shape().Voxels())
			b.ReportMetric(voxels*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvox/s")
			const launches = 100
			took, err := o.Launches(image, launches)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(voxels*launches/took.Seconds()/1e9, "Gvox/s-launches")
		})
	}
}
