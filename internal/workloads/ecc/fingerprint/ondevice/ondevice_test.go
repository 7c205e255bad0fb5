package ondevice_test

import (
	"fmt"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/ecc/fingerprint/ondevice"
	"eccbench/kernels/hosttest"
)

// images have rows and columns around the kernels' numbers, tables in shared memory and beside
// it, levels by arithmetic, by their values and by a search, and values between and above them.
var images = []string{
	"noise/shape=129x5x4/type=uint8/seed=1", "noise/shape=128x4x3/type=uint8/levels=5/seed=2", "noise/shape=3x9x70/type=uint8/seed=3",
	"noise/shape=260x37/type=uint8/seed=4", "noise/shape=1x1/type=uint8/seed=5", "noise/shape=127x3x2/type=int16/levels=1000/seed=6",
	"noise/shape=132x8x3/type=int16/seed=7", "noise/shape=131x9x5/type=uint16/seed=8", "noise/shape=64x5x4/type=uint16/levels=3000/seed=9",
	"noise/shape=132x6x4/type=float32/levels=512/seed=10", "noise/shape=17x6x4/type=float32/levels=1000/step=0.1/seed=11", "between/shape=33x34x5/levels=300/seed=12",
	"noise/shape=9x8x7/levels=64/type=float32/step=1e-13/seed=13", "noise/shape=140x7x3/type=float32/levels=40000/seed=14",
	"noise/shape=129x11/type=uint16/seed=15", "noise/shape=300x30/type=float32/levels=700/seed=16", "between/shape=33x10/levels=5000/seed=17",
}

// conventions are those with the greatest values, those with the least, and closed axes.
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
	return ecctest.Closing(t, resident.Once(func() (device.Driver, error) { return driver, nil }))
}

func TestOnHost(t *testing.T)   { testSums(t, kernelsOnHost(t, "")) }
func TestOnDevice(t *testing.T) { testSums(t, ecctest.Device(t)) }

// The device has the processor's sums, of two functions.
func testSums(t *testing.T, open resident.Opener) {
	for i, name := range images {
		_, f := ecctest.Open(t, name)
		if same, said := alike(t, open, masked(t, f), fingerprint.Draw(1).In(fingerprint.Convention{Masked: true}), 1<<30); !same {
			t.Errorf("%s, masked: %s", name, said)
		}
		for c, in := range conventions {
			if c > 0 && i%len(conventions) != c && i > 4 || in.Periodic.Of(f.Shape()) != nil {
				continue
			}
			bytes := int64(1 << 30)
			if c == 0 && i%2 > 0 { // in several slabs
				bytes = 0
			}
			if same, said := alike(t, open, f, fingerprint.Draw(2).In(in), bytes); !same {
				t.Errorf("%s, %+v: %s", name, in, said)
			}
		}
	}
}

// masked is an image of which some voxels are no part.
func masked(t *testing.T, f *grid.Field) grid.Source {
	t.Helper()
	_, mask := ecctest.Open(t, fmt.Sprintf("noise/shape=%v/type=uint8/levels=2/seed=1", f.Shape()))
	m, err := grid.Mask(f, mask)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func alike(t *testing.T, open resident.Opener, f grid.Source, k fingerprint.Key, bytes int64) (same bool, said string) {
	t.Helper()
	want, err := fingerprint.Of(f, k, 2)
	if err != nil {
		t.Fatal(err)
	}
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ondevice.Passing(d, f, k, bytes)
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
				if same, _ := alike(t, open, in, fingerprint.Draw(1), 1<<30); !same {
					caught++
				}
			}
		}
		if caught == 0 {
			t.Errorf("no image shows the fault %s", fault)
		}
	}
}

// An eye sees where there is a device, on ladders that have tables, and what it is to see costs.
func TestEye(t *testing.T) {
	open, opened := resident.Remembered(kernelsOnHost(t, ""))
	e := ondevice.Eye{Device: opened}
	_, f := ecctest.Open(t, images[0])
	k := fingerprint.Draw(1)
	if _, ok := e.Work(f, k, 2); ok {
		t.Error("it sees without a device")
	}
	if _, err := open(""); err != nil {
		t.Fatal(err)
	}
	work, ok := e.Work(f, k, 2)
	if more, _ := e.Work(onlyRead{f}, k, 2); !ok || work <= 0 || more <= work {
		t.Errorf("work %v, and %v where the image is read", work, more)
	}
	want, err := fingerprint.Of(f, k, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Of(onlyRead{f}, k, 2); err != nil || !got.Equal(want) {
		t.Errorf("%v, want %v: %v", got, want, err)
	}
	if _, ok := e.Work(onEvery{f}, k, 2); ok {
		t.Error("every float32 has a table")
	}
}

type (
	onlyRead struct{ grid.Source }
	onEvery  struct{ grid.Source }
)

func (onEvery) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

// The rate of a look at an image that is on the device.
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
		"noise/shape=1024x1024x512/type=float32/levels=512/seed=1", "grf/shape=512x512x512/type=float32/levels=1024/smooth=2/seed=1", "noise/shape=512x512x512/type=float32/levels=1000/step=0.1/seed=1",
	} {
		b.Run(name, func(b *testing.B) {
			src, err := datasets.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			defer grid.Close(src)
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
				if _, err := o.Of(image); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(src.Shape().Voxels())*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvox/s")
		})
	}
}
