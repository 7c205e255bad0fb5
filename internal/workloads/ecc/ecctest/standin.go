package ecctest

import (
	"encoding/binary"
	"regexp"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
)

// sweeping are the kernels that StandIn has.
var sweeping = regexp.MustCompile(`^ecc_fullsweep_([23])d_uint8$`)

// StandIn opens a stand-in for a device, closed at the end of the test. It counts images of uint8
// on the host as the kernels of chunked and fullsweep do: voxel by voxel, for some slices of a
// slab.
func StandIn(t testing.TB) resident.Opener {
	t.Helper()
	driver := devicetest.New(1, func(name string) devicetest.Kernel {
		match := sweeping.FindStringSubmatch(name)
		if match == nil {
			return nil
		}
		return func(_ device.Launch, at func(uint64) ([]byte, error), args []any) error {
			return sweep(at, args, match[1] == "2")
		}
	})
	return Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// sweep adds the cells that the voxels of slices first ≤ z < last introduce.
func sweep(at func(uint64) ([]byte, error), args []any, flat bool) error {
	number := func(i int) int64 { return int64(args[i].(int32)) }
	w, h, n, first, last := number(1), number(2), number(3), number(4), number(5)
	slab, err := at(args[0].(device.Memory).Address())
	if err != nil {
		return err
	}
	total, err := at(args[13].(device.Memory).Address())
	if err != nil {
		return err
	}
	level := func(v byte) int64 { return int64(v) }
	if b, ok := args[11].(device.Memory); ok { // else the ladder is the identity
		lut, err := at(b.Address())
		if err != nil {
			return err
		}
		level = func(v byte) int64 { return int64(int32(binary.LittleEndian.Uint32(lut[4*int(v):]))) }
	}
	slab = slab[:w*h*n]
	cells := sharedCells(flat)
	for z := first; z < last; z++ {
		for y := range h {
			for x := range w {
				to := total[8*level(slab[(z*h+y)*w+x]):]
				change := introduced(slab, [3]int64{n, h, w}, [3]int64{z, y, x}, cells)
				binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)+uint64(change))
			}
		}
	}
	return nil
}

// A sharedCell is a cell of a voxel, with the bits of all voxels that share it. The bits number the
// 3×3×3 box around the voxel, the slowest axis first.
type sharedCell struct {
	sign   int64
	voxels uint32
}

// sharedCells are the cells of a voxel, of an image in 2D or in 3D.
func sharedCells(flat bool) (list []sharedCell) {
	for sides := range 27 { // the side of the voxel: 0 or 2 along an axis, 1 for neither
		sz, sy, sx := sides/9, sides/3%3, sides%3
		if flat && sy != 1 {
			continue
		}
		c := sharedCell{sign: -1}
		if flat {
			c.sign = 1
		}
		for _, side := range []int{sz, sy, sx} {
			if side != 1 {
				c.sign = -c.sign
			}
		}
		for _, z := range []int{1, sz} {
			for _, y := range []int{1, sy} {
				for _, x := range []int{1, sx} {
					c.voxels |= 1 << (9*z + 3*y + x)
				}
			}
		}
		list = append(list, c)
	}
	return list
}

// introduced sums the signs of the cells for which this voxel is the first: no other voxel of the
// cell has a smaller value, or an equal one at a lower position.
func introduced(slab []byte, extent, p [3]int64, cells []sharedCell) (sum int64) {
	own := (p[0]*extent[1]+p[1])*extent[2] + p[2]
	value, before := slab[own], uint32(0)
	for z := max(0, p[0]-1); z <= min(p[0]+1, extent[0]-1); z++ {
		for y := max(0, p[1]-1); y <= min(p[1]+1, extent[1]-1); y++ {
			at := (z*extent[1] + y) * extent[2]
			for x := max(0, p[2]-1); x <= min(p[2]+1, extent[2]-1); x++ {
				if v := slab[at+x]; v < value || v == value && at+x < own {
					before |= 1 << (9*(z-p[0]+1) + 3*(y-p[1]+1) + x - p[2] + 1)
				}
			}
		}
	}
	for _, c := range cells {
		if before&c.voxels == 0 {
			sum += c.sign
		}
	}
	return sum
}

// Open returns the image of a name, generated as it is read, and a copy in memory.
func Open(t testing.TB, name string) (streamed grid.Source, whole *grid.Field) {
	t.Helper()
	streamed, err := datasets.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err = grid.Load(streamed); err != nil {
		t.Fatal(err)
	}
	return streamed, whole
}

// Answer is the third answer of an implementation, and the parts of its call.
func Answer(t testing.TB, impl bench.Implementation[grid.Source, ecc.VCEC], in grid.Source, c bench.Conditions) (ecc.VCEC, map[string]float64) {
	t.Helper()
	if err := impl.CanDo(in, c); err != nil {
		t.Fatal(err)
	}
	j, err := impl.Setup(in, c)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	var trace bench.Trace
	for _, trace := range []*bench.Trace{nil, nil, &trace} {
		j.Poison()
		if err := j.Do(trace); err != nil {
			t.Fatal(err)
		}
	}
	got, err := j.Out()
	if err != nil {
		t.Fatal(err)
	}
	return got, trace.Spans()
}
