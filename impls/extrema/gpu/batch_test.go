package gpu_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/impls/extrema"
	"eccbench/impls/extrema/gpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// stacked returns a batch of an image and of images with the following seeds.
func stacked(t *testing.T, name string, n int) (grid.Batch, []*grid.Field) {
	t.Helper()
	names, err := datasets.Variants(name, n)
	if err != nil || len(names) != n {
		t.Fatal(names, err)
	}
	var images []*grid.Field
	for _, name := range names {
		_, f := ecctest.Open(t, name)
		images = append(images, f)
	}
	return join(t, images), images
}

func join(t *testing.T, images []*grid.Field) grid.Batch {
	t.Helper()
	var data []byte
	for _, f := range images {
		data = append(data, f.Data()...)
	}
	like := images[0]
	s := like.Shape()
	s.D *= int64(len(images))
	all, err := grid.NewField(s, like.Type(), data, like.Ladder())
	if err != nil {
		t.Fatal(err)
	}
	return grid.Batch{Source: all, Images: int64(len(images))}
}

// alone returns the curve of each image, computed on the host.
func alone(t *testing.T, images []*grid.Field) []ecc.VCEC {
	t.Helper()
	var list []ecc.VCEC
	for _, f := range images {
		j, err := extrema.Implementation{}.Setup(f, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		v, err := j.Out()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// together returns the answer of three calls to a batch, which must be equal.
func together(o gpu.BatchOnDevice, in grid.Batch, scope bench.Scope) ([]ecc.VCEC, error) {
	c := bench.Conditions{Setting: bench.Setting{Scope: scope, Threads: 1}}
	if err := o.CanDo(in, c); err != nil {
		return nil, err
	}
	j, err := o.Setup(in, c)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	var first []ecc.VCEC
	for call := range 3 {
		j.Poison()
		if err := j.Do(nil); err != nil {
			return nil, err
		}
		out, err := j.Out()
		if err != nil {
			return nil, err
		}
		if call == 0 {
			first = out
		} else if wrong(first, out) != "" {
			return out, fmt.Errorf("call %d: %s", call, wrong(first, out))
		}
	}
	return first, nil
}

// oneByOne returns the answer of an implementation that processes the images in turn.
func oneByOne(o gpu.OnDevice, in grid.Batch) ([]ecc.VCEC, error) {
	j, err := o.SetupEach(in, bench.Conditions{Setting: bench.Setting{Scope: bench.Device, Threads: 1}})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	j.Poison()
	if err := j.Do(nil); err != nil {
		return nil, err
	}
	return j.Out()
}

// wrong returns the first image of a batch whose curve differs from its curve alone.
func wrong(want, got []ecc.VCEC) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d curves of %d images", len(got), len(want))
	}
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			return fmt.Sprintf("image %d of %d: %d changes, want %d", i, len(want), len(got[i]), len(want[i]))
		}
	}
	return ""
}

// Sizes around the numbers of a warp's columns, rows and segments, in every type, on
// ladders for pairs and for singles.
var batches = []struct {
	name string
	n    int
}{
	{"noise/shape=128x128/levels=1024/type=float32/seed=1", 300},
	{"noise/shape=128x128x128/levels=1024/type=float32/seed=2", 5},
	{"noise/shape=128x127/levels=256/type=uint8/seed=3", 40},
	{"noise/shape=64x64x64/levels=256/type=uint8/seed=4", 20},
	{"noise/shape=124x33x9/levels=512/type=uint16/seed=5", 33},
	{"noise/shape=20x7x5/levels=100/type=int16/seed=6", 1000},
	{"noise/shape=4x3/levels=4/type=uint8/seed=7", 200},
	{"noise/shape=70x61/levels=300/type=float32/seed=8", 50},
	{"noise/shape=31x17x13/levels=1025/type=float32/seed=9", 60},
	{"noise/shape=132x40/levels=1024/type=float32/seed=10", 20},
	{"noise/shape=512x65/levels=1024/type=uint16/seed=11", 9},
	{"noise/shape=260x9x11/levels=77/type=float32/seed=12", 7},
	{"noise/shape=301x5x4/levels=77/type=int16/seed=13", 7},
	{"noise/shape=128x64/levels=10000/type=float32/seed=14", 12},
	{"noise/shape=40x30x20/levels=9000/type=uint16/seed=15", 12},
	{"grf/shape=128x96/levels=1024/type=float32/smooth=2/seed=16", 30},
	{"grf/shape=100x40x30/levels=64/type=uint8/smooth=2/seed=17", 10},
	{"noise/shape=1x1/levels=2/type=uint8/seed=18", 2},
	{"noise/shape=1x9x2/levels=16/type=float32/seed=19", 30},
	{"noise/shape=128x4096/levels=1024/type=float32/seed=20", 1},
	{"noise/shape=96x80x600/levels=1024/type=float32/seed=21", 1},
}

// A streamed source hides that it is in memory.
type streamed struct{ grid.Source }

// Every image of a batch has the curve that it has alone.
func TestBatchOnDevice(t *testing.T) { tryBatches(t, ecctest.Device(t), 1000) }

func TestBatchOnStandIn(t *testing.T) { tryBatches(t, standIns(t, 1), 3) }

// tryBatches tries the batches of at most most images.
func tryBatches(t *testing.T, open resident.Opener, most int) {
	for _, b := range batches {
		t.Run(b.name, func(t *testing.T) {
			in, images := stacked(t, b.name, min(b.n, most))
			if race.Enabled && grid.TotalBytes(in.Source) > 20<<20 {
				t.Skip("under the race detector so many voxels take half a minute, and race no more than few do")
			}
			want := alone(t, images)
			for _, scope := range []bench.Scope{bench.Kernel, bench.E2E, bench.File} {
				in := in
				if scope == bench.File {
					in.Source = &streamed{in.Source}
				}
				got, err := together(gpu.BatchOnDevice{Open: open}, in, scope)
				if err != nil {
					t.Fatal(err)
				}
				if w := wrong(want, got); w != "" {
					t.Errorf("%s: %s", scope, w)
				}
			}
			got, err := oneByOne(gpu.OnDevice{Open: open}, in)
			if err != nil {
				t.Fatal(err)
			}
			if w := wrong(want, got); w != "" {
				t.Errorf("one by one: %s", w)
			}
		})
	}
}

// One value between two levels selects the kernels for single values.
func TestBatchWithStrays(t *testing.T) { tryStrays(t, ecctest.Device(t)) }

func TestBatchWithStraysOnStandIn(t *testing.T) { tryStrays(t, standIns(t, 1)) }

func tryStrays(t *testing.T, open resident.Opener) {
	_, images := stacked(t, "noise/shape=36x20x6/levels=64/type=float32/seed=3", 9)
	images[7] = withStrays(t, images[7])
	got, err := together(gpu.BatchOnDevice{Open: open}, join(t, images), bench.Device)
	if err != nil {
		t.Fatal(err)
	}
	if w := wrong(alone(t, images), got); w != "" {
		t.Error(w)
	}
}

// withStrays returns an image of 64 levels with two values between them.
func withStrays(t *testing.T, f *grid.Field) *grid.Field {
	t.Helper()
	data := slices.Clone(f.Data())
	values, ladder := grid.Values[float32](data), f.Ladder()
	values[1234] += (ladder.Value(1) - ladder.Value(0)) / 3
	values[1234] = min(values[1234], ladder.Value(62))
	values[99] = (ladder.Value(3) + ladder.Value(4)) / 2
	f, err := grid.NewField(f.Shape(), f.Type(), data, ladder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A call counts its own image with the kernels that it needs, whatever the previous image was.
func TestStraysComeAndGo(t *testing.T) { tryStraysInTurn(t, ecctest.Device(t)) }

func TestStraysComeAndGoOnStandIn(t *testing.T) { tryStraysInTurn(t, standIns(t, 1)) }

func tryStraysInTurn(t *testing.T, open resident.Opener) {
	_, images := stacked(t, "noise/shape=36x20x6/levels=64/type=float32/seed=3", 4)
	images[1], images[2] = withStrays(t, images[1]), withStrays(t, images[2])
	want := alone(t, images)
	in := &streamed{images[0]}
	j, err := gpu.OnDevice{Open: open}.Setup(in, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, i := range []int{0, 1, 2, 3, 1, 0, 0, 2} {
		in.Source = images[i]
		j.Poison()
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		got, err := j.Out()
		if err != nil || !slices.Equal(got, want[i]) {
			t.Errorf("image %d: another curve, %v", i, err)
		}
		if flags := j.(bench.DeviceJob).Flags(); slices.Contains(flags, "kernel=single") != (i == 1 || i == 2) {
			t.Errorf("image %d: flags %q", i, flags)
		}
	}
}

// Too many levels for a warp's counters are rejected with the calculation.
func TestBatchOfManyLevels(t *testing.T) {
	open := ecctest.Device(t)
	in, _ := stacked(t, "noise/shape=8x8/levels=65536/type=uint16/seed=3", 2)
	if err := (gpu.BatchOnDevice{Open: open}).CanDo(in, bench.Conditions{}); err == nil || !strings.Contains(err.Error(), "65536 levels") {
		t.Errorf("65536 levels: %v", err)
	}
}
