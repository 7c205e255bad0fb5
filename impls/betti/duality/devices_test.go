package duality_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"eccbench/impls/betti/duality"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting/countingtest"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/hosttest"
)

// cutImages returns images divided among three devices. Cuts are within and next to components and
// cavities, and within tunnels. Some images are flat, of one plane, or too small.
func cutImages() []string {
	var list []string
	for _, image := range []string{
		"noise/shape=66x40x130/levels=256/type=uint8/seed=1", "noise/shape=65x33x97/levels=256/type=int16/seed=3", "noise/shape=7x5x33/levels=256/type=float32/seed=5",
		"noise/shape=130x1600/levels=256/type=uint16/seed=6", "noise/shape=70x1x1100/levels=256/type=uint8/seed=7", "noise/shape=3x513/levels=256/type=uint8/seed=8",
		"noise/shape=70x2x100/levels=256/type=uint8/seed=9", "noise/shape=70x40x2/levels=256/type=uint8/seed=9", "noise/shape=70x40x31/levels=256/type=uint8/seed=10",
	} {
		for _, at := range []int64{20, 79, 128, 235} {
			list = append(list, betti.NameOf(at, image))
		}
	}
	for _, image := range []string{
		"serpent/shape=66x35x100/type=uint8", "cavities/shape=66x35x100/type=uint8", "drills/shape=66x35x100/type=uint8", "shell/shape=66x67x131/type=uint8",
		"constant/shape=64x32x96/type=uint8", "shell/shape=200x100x130/type=uint8", "serpent/shape=70x1100/type=uint8", "checkerboard/shape=65x33x99/type=uint8",
	} {
		list = append(list, betti.NameOf(0, image))
	}
	return append(list, betti.NameOf(-1, "grf/shape=66x70x130/type=uint8/smooth=2/seed=1"))
}

// onAll is the implementation on all devices of its opener.
type onAll struct{ duality.OnDevices }

func (o onAll) CanDo(in *betti.Image, c bench.Conditions) error {
	c.Devices, c.Threads = resident.All, 3
	return o.OnDevices.CanDo(in, c)
}

func (o onAll) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	c.Devices, c.Threads = resident.All, 3
	return o.OnDevices.Setup(in, c)
}

// threeOnHost returns three stand-ins for devices, with a fault in the kernels.
func threeOnHost(t *testing.T, fault string) resident.Opener {
	driver := devicetest.New(3, hosttest.Modules(t, fault, "betti_duality"))
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// A twin is a device with the number of another.
type twin struct {
	device.Device
	index, count int
}

func (t twin) Info() device.Info {
	i := t.Device.Info()
	i.Index, i.Count = t.index, t.count
	return i
}

// as presents the first device as several, which divide an image as different devices do.
func as(open resident.Opener, count int) resident.Opener {
	return func(which string) (device.Device, error) {
		d, err := open("")
		if err != nil {
			return nil, err
		}
		index, err := strconv.Atoi(which)
		return twin{d, index, count}, err
	}
}

func TestSeveralOnHost(t *testing.T) { testSeveral(t, threeOnHost(t, ""), 3) }

func TestSeveralOnOneDevice(t *testing.T) { testSeveral(t, as(ecctest.Device(t), 3), 1) }

func TestSeveralOnDevices(t *testing.T) {
	open := ecctest.Device(t)
	devices, err := open.OpenAll(resident.All)
	if err != nil {
		t.Fatal(err)
	}
	if len(devices) < 2 {
		t.Skip("the machine has one device")
	}
	t.Logf("%d devices", len(devices))
	testSeveral(t, open, 1)
}

// testSeveral compares the answers for every each-th image with a core's, in each scope.
func testSeveral(t *testing.T, open resident.Opener, each int) {
	scopes := duality.OnDevices{}.About().Scopes
	for i, name := range cutImages() {
		if i%each > 0 {
			continue
		}
		if err := severally(t, duality.OnDevices{Open: open}, name, scopes[i/each%len(scopes)], 2); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// severally returns a difference between the answers of several devices and of cores.
func severally(t *testing.T, by duality.OnDevices, name string, scope bench.Scope, times int) error {
	t.Helper()
	in, err := betti.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	return countingtest.Differs(onAll{by}, in, scope, times, betti.Poisoned, answer(t, duality.Implementation{}, in, 2))
}

// Some image exposes each fault in the kernels of shared slices.
func TestFaultsOfSeveralShow(t *testing.T) {
	shows := func(t *testing.T, by duality.OnDevices) {
		if !slices.ContainsFunc(cutImages(), func(name string) bool { return severally(t, by, name, bench.Device, 1) != nil }) {
			t.Error("no answer differs")
		}
	}
	for _, fault := range []string{"slice", "cut"} {
		t.Run(fault, func(t *testing.T) { shows(t, duality.OnDevices{Open: threeOnHost(t, fault)}) })
	}
}

// Every slice is in a part, shared slices are in two, and each part except the last ends with a
// tile.
func TestPortions(t *testing.T) {
	for _, c := range []struct {
		shape   string
		devices int
		want    string
	}{
		{"66x40x130", 1, "[0 130)"},
		{"66x40x130", 2, "[0 64) [63 130)"},
		{"66x40x130", 3, "[0 32) [31 95) [94 130)"},
		{"66x40x130", 8, "[0 32) [31 63) [62 94) [93 125) [124 130)"},
		{"7x5x33", 8, "[0 32) [31 33)"},
		{"7x5x32", 8, "[0 32)"},
		{"7x500x2", 8, "[0 2)"},
		{"130x1600", 3, "[0 512) [511 1023) [1022 1600)"},
		{"70x2x100", 2, "[0 64) [63 100)"},
	} {
		in, err := betti.Inputs{}.Open(betti.NameOf(0, "constant/shape="+c.shape+"/type=uint8"))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range duality.Portions(in.Shape(), c.devices) {
			got += fmt.Sprintf(" [%d %d)", p[0], p[1])
		}
		if got != " "+c.want {
			t.Errorf("%s on %d: %s, want %s", c.shape, c.devices, got, c.want)
		}
	}
}

// BenchmarkSeveral measures a whole call on several devices with resident parts, including the
// join.
func BenchmarkSeveral(b *testing.B) {
	for _, name := range []string{
		"betti/at=127/of=noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=-1/of=grf/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=2048x2048x2048/levels=256/type=uint8/seed=1",
	} {
		in, err := betti.Inputs{}.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		open := ecctest.Device(b)
		for who, by := range map[string]bench.Implementation[*betti.Image, betti.Numbers]{"one": duality.OnDevice(open), "all": duality.OnDevices{Open: open}} {
			b.Run(who+"/"+name, func(b *testing.B) {
				c := bench.Conditions{Setting: bench.Setting{Scope: bench.Device, Devices: resident.All, Threads: 16}}
				if err := by.CanDo(in, c); err != nil {
					b.Skip(err)
				}
				job, err := by.Setup(in, c)
				if err != nil {
					b.Fatal(err)
				}
				defer job.Close()
				for b.Loop() {
					if err := job.Do(nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(in.Shape().Voxels())*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvox/s")
				took, err := job.(bench.DeviceJob).Elapsed()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(took.Seconds()*1e3, "kernels-ms")
				out, _ := job.Out()
				b.Logf("%v", out)
			})
		}
	}
}
