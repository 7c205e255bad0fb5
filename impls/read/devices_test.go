package read

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/read"
)

// addUp is the kernel in Go.
func addUp(string) devicetest.Kernel {
	return func(_ device.Launch, at func(uint64) ([]byte, error), args []any) error {
		image, err := at(args[0].(device.Buffer).Address())
		if err != nil {
			return err
		}
		to, err := at(args[4].(device.Buffer).Address())
		if err != nil {
			return err
		}
		sum := binary.LittleEndian.Uint64(to) + grid.Sum64(image[:8*args[1].(int64)])
		if args[2].(uint64) == 0 {
			binary.LittleEndian.PutUint64(to, sum)
			return nil
		}
		binary.LittleEndian.PutUint64(to, 0) // it is handed over
		table, err := at(args[2].(uint64))
		if err != nil {
			return err
		}
		word, err := at(args[3].(uint64))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(table, sum)
		binary.LittleEndian.PutUint32(word, 1)
		return nil
	}
}

// sums are images of few slices, and of slices that are no whole words.
var sums = []string{
	"noise/shape=1x1/type=uint8", "noise/shape=37x1/type=int16", "noise/shape=1x37/type=uint8", "noise/shape=5x5x2/type=uint8",
	"noise/shape=7x5x3/type=uint8", "noise/shape=3x3x5/type=int16", "noise/shape=32x16x17/type=float32",
}

// pinned are images that are pinned in place; one of them is periodic.
var pinned = []string{"noise/shape=512x600/type=float32", "noise/shape=512x1500/type=float32/repeat=600"}

// adds requires that an image has the sum of the law, and that a poisoned one has not.
func adds(t *testing.T, impl bench.Implementation[grid.Source, uint64], policy verify.Policy[grid.Source, uint64], name string, scope bench.Scope) {
	t.Helper()
	src, err := datasets.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if scope == bench.E2E { // where it may be pinned
		field, err := grid.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		src = field.Repeating(grid.Period(src))
	}
	what := fmt.Sprintf("%s on %s, scope %s", impl.About().Name, name, scope)
	c := bench.Conditions{Setting: bench.Setting{Scope: scope, Devices: "all"}}
	if err := impl.CanDo(src, c); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	job, err := impl.Setup(src, c)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	job.Poison()
	for _, done := range []bool{false, true, true} {
		if done {
			if err := job.Do(nil); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		got, err := job.Out()
		if err != nil {
			t.Fatal(err)
		}
		evidence := policy.Check(verify.Question[grid.Source, uint64]{Name: name, In: src, Out: got, Budget: 1 << 40})
		if right := verify.Judge([]string{name}, evidence).Status == verify.Verified; right != done {
			t.Errorf("%s: done %v, %v", what, done, evidence)
		}
	}
	if err := job.Close(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// A job reads the image anew in each call: small images cannot be pinned in place.
func TestChangedImageOnStandIn(t *testing.T) {
	driver := devicetest.New(1, addUp)
	d, err := driver.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range append(slices.Clone(sums), pinned[0], "noise/shape=128x128/type=float32") {
		src, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		job, err := ToDevice{Open: func(string) (device.Device, error) { return d, nil }}.Setup(f, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E}})
		if err != nil {
			t.Fatal(err)
		}
		var sums [2]uint64
		for i := range sums {
			f.Data()[0] ^= byte(i)
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			if sums[i], err = job.Out(); err != nil {
				t.Fatal(err)
			}
		}
		if sums[0] == sums[1] {
			t.Errorf("%s: the sum is that of the image before it changed", name)
		}
		if err := job.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestSumOnStandIns(t *testing.T) {
	for _, devices := range []int{1, 2, 3} {
		driver := devicetest.New(devices, addUp)
		opened := map[string]device.Device{}
		open := func(which string) (device.Device, error) {
			if d, ok := opened[which]; ok {
				return d, nil
			}
			index, err := strconv.Atoi("0" + which)
			if err != nil {
				return nil, err
			}
			opened[which], err = driver.Open(index)
			return opened[which], err
		}
		for _, name := range sums {
			for _, impl := range []bench.Implementation[grid.Source, uint64]{OnDevice{open}, OnDevices{open}} {
				adds(t, impl, read.Workload().Policy, name, bench.Device)
			}
			// The whole image, two parts, and parts with a short last one.
			for _, window := range []int64{0, 8, 24, 1 << 10, 16 << 10} {
				for _, stream := range []string{"", "copying", "reading"} {
					driver.Hurry(stream)
					adds(t, ToDevice{open, window}, read.Workload().Policy, name, bench.E2E)
				}
				driver.Hurry("")
			}
		}
		for _, name := range pinned {
			for _, window := range []int64{0, 300 << 10, 1 << 20} {
				adds(t, ToDevice{open, window}, read.Workload().Policy, name, bench.E2E)
			}
		}
		for _, d := range opened {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestSumOnDevice(t *testing.T) {
	open := ecctest.Device(t)
	for _, name := range sums {
		t.Run(name, func(t *testing.T) {
			adds(t, OnDevice{open}, read.Workload().Policy, name, bench.Device)
			adds(t, OnDevice{open}, read.Workload().Policy, name, bench.Kernel)
			for _, window := range []int64{0, 8, 1 << 10, 16 << 10} {
				adds(t, ToDevice{open, window}, read.Workload().Policy, name, bench.E2E)
			}
		})
	}
}

// Every slice is in one part, and no part of a 3D image has one slice but a whole
// image of one.
func TestParts(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 1, H: 1, W: 5}, {D: 1, H: 7, W: 3}, {D: 2, H: 3, W: 3}, {D: 3, H: 3, W: 3}, {D: 7, H: 3, W: 3}, {D: 64, H: 2, W: 2}} {
		src, err := datasets.Open(fmt.Sprintf("constant/shape=%v/type=uint8", shape))
		if err != nil {
			t.Fatal(err)
		}
		for devices := 1; devices < 9; devices++ {
			var slices int64
			for _, p := range parts(src, devices) {
				if p.Shape().Dim() != shape.Dim() {
					t.Errorf("%v on %d devices: a part of %v", shape, devices, p.Shape())
				}
				slices += p.Shape().Slices()
			}
			if slices != shape.Slices() {
				t.Errorf("%v on %d devices: %d slices", shape, devices, slices)
			}
		}
	}
}
