package gpu_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/extrema/gpu"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/hosttest"
)

// arraysOnHost returns the kernels for arrays on a stand-in for a device. Its buffers lie between
// unmapped pages.
func arraysOnHost(t *testing.T) resident.Opener {
	var modules []string
	for _, typ := range grid.Types() {
		for _, module := range []string{"ecc_extrema_array_", "ecc_extrema_array_large_"} {
			if typ == grid.Float32 && strings.Contains(module, "large") {
				continue
			}
			modules = append(modules, module+typ.String())
		}
	}
	driver := devicetest.New(1, hosttest.Modules(t, "", modules...))
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// arrays have rows and columns around the kernels' sizes, and few or many rows per plane. Arrays of
// a multiple of 4,096 bytes begin and end next to unmapped pages.
var arrays = []struct {
	name  string
	align int64
	large bool
}{
	{"noise/shape=64x64/type=uint8/seed=1", 16, false}, {"noise/shape=256x16/type=uint8/seed=2", 16, false}, {"noise/shape=300x5/type=uint8/seed=3", 16, false},
	{"noise/shape=129x7/type=uint8/seed=4", 16, false}, {"noise/shape=64x64/type=uint8/seed=5", 1, false}, {"noise/shape=512x24/type=uint8/seed=5", 16, true},
	{"noise/shape=64x8x8/type=uint8/seed=6", 16, false}, {"noise/shape=256x4x4/type=uint8/seed=7", 16, false}, {"noise/shape=4x1x1024/type=uint8/seed=8", 16, false},
	{"noise/shape=64x8x8/type=uint8/seed=9", 16, true}, {"noise/shape=4x1x1024/type=uint8/seed=10", 16, true}, {"noise/shape=20x5x41/type=uint8/seed=11", 16, true},
	{"noise/shape=13x5x9/type=uint8/seed=12", 16, true}, {"noise/shape=128x16x4/type=uint8/seed=13", 1, true}, {"noise/shape=1x1/type=uint8/seed=14", 16, false},
	{"noise/shape=1x4096/type=uint8/seed=15", 16, false}, {"noise/shape=13x5x9/type=uint8/seed=16", 16, false}, {"noise/shape=160x33x2/type=uint8/levels=9/seed=17", 16, true},
	{"noise/shape=64x16x2/type=uint16/seed=20", 16, false}, {"noise/shape=64x16x2/type=uint16/seed=21", 16, true}, {"noise/shape=7x9x5/type=uint16/seed=22", 16, true},
	{"noise/shape=64x32/type=int16/seed=23", 16, false}, {"noise/shape=33x32/type=int16/seed=24", 16, false}, {"noise/shape=6x8x16/type=int16/seed=25", 16, true},
	{"noise/shape=64x16x2/type=uint16/levels=100/seed=26", 16, false}, {"noise/shape=64x32/type=int16/levels=100/seed=27", 16, false},
	{"noise/shape=64x16/type=float32/levels=64/seed=30", 16, false}, {"noise/shape=16x8x8/type=float32/levels=64/seed=31", 16, false},
	{"noise/shape=132x7x3/type=float32/levels=64/seed=32", 16, true}, {"noise/shape=33x5/type=float32/levels=64/seed=33", 16, true},
	{"noise/shape=33x5x4/type=float32/levels=64/seed=34", 4, true}, {"between/shape=33x34x5/levels=300/seed=12", 16, false},
}

func TestArraysOnHost(t *testing.T) {
	open := arraysOnHost(t)
	for _, a := range arrays {
		_, f := ecctest.Open(t, a.name)
		for _, onLevels := range []bool{false, true} {
			if onLevels && (f.Type() != grid.Float32 || strings.HasPrefix(a.name, "between")) {
				continue
			}
			kind := gpu.ArrayKind{Shape: f.Shape(), Type: f.Type(), Ladder: f.Ladder(), Rows: f.Ladder().Len(), Align: a.align, OnLevels: onLevels}
			kind.OnLevels = onLevels || kind.Ladder.Key() == grid.Identity(f.Type()).Key()
			if a.large {
				kind = gpu.Large(kind)
			}
			t.Run(fmt.Sprintf("%s,align=%d,large=%v,onlevels=%v", a.name, a.align, a.large, onLevels), func(t *testing.T) {
				if got, want := chiOfArray(t, open, f, kind), chiOnHost(t, f); !slices.Equal(got, want) {
					t.Errorf("χ is %v, want %v", firstDifference(got, want), "that of the host")
				}
			})
		}
	}
}

func firstDifference(got, want []int64) string {
	for k := range want {
		if k >= len(got) || got[k] != want[k] {
			return fmt.Sprintf("%d at level %d of %d, want %d", got[k], k, len(want), want[k])
		}
	}
	return "as long as no other"
}

// chiOnHost returns χ at each level, computed on the host.
func chiOnHost(t *testing.T, f *grid.Field) []int64 {
	t.Helper()
	chi := make([]int64, f.Ladder().Len())
	for _, c := range alone(t, []*grid.Field{f})[0] {
		chi[c.Level] = c.Change
	}
	for k := 1; k < len(chi); k++ {
		chi[k] += chi[k-1]
	}
	return chi
}

// chiOfArray returns the result of Arrays for the image alone, and as the second of a batch.
func chiOfArray(t *testing.T, open resident.Opener, f *grid.Field, kind gpu.ArrayKind) []int64 {
	t.Helper()
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	a, err := gpu.OpenArrays(d, kind)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s, err := d.NewStream("the caller's")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var first []byte
	voxels := f.Data()
	for images := int64(1); images <= 2; images++ {
		if images == 2 {
			if int64(len(voxels))%kind.Align != 0 {
				break
			}
			moved := 5 * int64(f.Type().Size()) % int64(len(voxels)) // the first image has another curve
			voxels = slices.Concat(voxels[moved:], voxels[:moved], voxels)
		}
		image, memory, chi := alloc(t, d, int64(len(voxels))), alloc(t, d, images*a.Memory()), alloc(t, d, images*8*kind.Rows)
		if err := s.Upload(image, 0, voxels); err != nil {
			t.Fatal(err)
		}
		for _, b := range []device.Buffer{memory, chi} { // earlier contents have no effect
			if err := s.Fill(b, 0, b.Bytes(), 0x5a); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Enqueue(s, images, image, chi, memory); err != nil {
			t.Fatal(err)
		}
		got, back := make([]byte, images*8*kind.Rows), make([]byte, len(voxels))
		if err := s.Download(got, chi, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.Download(back, image, 0); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back, voxels) {
			t.Error("the image was written to")
		}
		if images == 1 {
			first = got
		} else if !slices.Equal(got[len(first):], first) {
			t.Error("the second of two images is counted otherwise than alone")
		}
	}
	out := make([]int64, kind.Rows)
	if _, err := binary.Decode(first, binary.LittleEndian, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func alloc(t *testing.T, d device.Device, bytes int64) device.Buffer {
	t.Helper()
	b, err := d.Alloc("the caller's", bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// Levels above the requested ones do not count.
func TestArraysOfFewLevels(t *testing.T) {
	open := arraysOnHost(t)
	_, f := ecctest.Open(t, "noise/shape=32x16x8/type=uint8/seed=3")
	_, g := ecctest.Open(t, "noise/shape=16x16x4/type=float32/levels=64/seed=3")
	for _, c := range []struct {
		f      *grid.Field
		levels []float32
		rows   int64
	}{
		{f, []float32{0, 17, 100, 254, 255}, 4},
		{f, []float32{3, 255}, 1},
		{g, []float32{0.1, 0.25, 0.5, math.MaxFloat32}, 3},
	} {
		ladder, err := grid.Table(c.levels)
		if err != nil {
			t.Fatal(err)
		}
		kind := gpu.ArrayKind{Shape: c.f.Shape(), Type: c.f.Type(), Ladder: ladder, Rows: c.rows, Align: 16}
		got, all := chiOfArray(t, open, c.f, kind), chiOnHost(t, c.f)
		for i, v := range c.levels[:c.rows] {
			want := int64(0)
			for k := range c.f.Ladder().Len() {
				if c.f.Ladder().Value(k) <= v {
					want = all[k]
				}
			}
			if got[i] != want {
				t.Errorf("χ of %v up to %v is %d, want %d", c.f.Type(), v, got[i], want)
			}
		}
	}
}
