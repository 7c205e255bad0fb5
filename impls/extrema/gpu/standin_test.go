package gpu_test

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/impls/extrema/gpu"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels"
)

// The kernels' names: their method, dimension and type.
var kernelName = regexp.MustCompile(`^ecc_extrema_(?:(strays)|(?:(?:single|small|small_narrow|batch(?:_(?:narrow|unaligned|single))?)_|(?:(?:wide|ranked)_)?(?:unaligned_)?|(?:sliced|deep)_(?:(?:fours|unaligned)_)?)([23])d)_(\w+)$`)

// standInKernel replaces a kernel by the host implementation. It receives only the kernel's
// arguments.
func standInKernel(name string) devicetest.Kernel {
	match := kernelName.FindStringSubmatch(name)
	if match == nil {
		return nil
	}
	typ, err := grid.ParseType(match[3])
	if err != nil {
		return nil
	}
	if match[1] != "" {
		return func(_ device.Launch, at func(uint64) ([]byte, error), args []any) error {
			return countStrays(at, args, typ)
		}
	}
	if strings.HasPrefix(name, "ecc_extrema_batch") {
		return func(_ device.Launch, at func(uint64) ([]byte, error), args []any) error {
			return countBatch(at, args, typ, match[2] == "2")
		}
	}
	return func(_ device.Launch, at func(uint64) ([]byte, error), args []any) error {
		return countChanges(at, args, typ, match[2] == "2")
	}
}

// levelsOf returns the levels of the voxels at an address from a kernel's ladder parameters, and
// reports whether each value is on its level.
func levelsOf(at func(uint64) ([]byte, error), image uint64, voxels int64, typ grid.Type, ladder []any) (levels []float32, stands []bool, err error) {
	data, err := at(image)
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) < voxels*typ.Size() {
		return nil, nil, fmt.Errorf("%d bytes at the image, it has %d", len(data), voxels*typ.Size())
	}
	table := func(arg any) []byte {
		if b, ok := arg.(device.Buffer); ok && err == nil {
			data, err = at(b.Address())
			return data
		}
		return nil
	}
	n, least := int(ladder[0].(int32)), ladder[1].(int32)
	raw := data
	lut, values := table(ladder[5]), table(ladder[6])
	if err != nil {
		return nil, nil, err
	}
	levels, stands = make([]float32, 0, voxels), make([]bool, 0, voxels)
	if typ == grid.Float32 {
		list := grid.Values[float32](values)[:n]
		first, perValue := float64(list[0]), 0.
		if n > 1 {
			perValue = float64(n-1) / (float64(list[n-1]) - first)
		}
		for _, x := range grid.Values[float32](raw)[:voxels] {
			k := int(min(max((float64(x)-first)*perValue, 0), float64(n-1))) // about, and there if the levels are even
			for k < n && list[k] < x {
				k++
			}
			for k > 0 && list[k-1] >= x {
				k--
			}
			levels, stands = append(levels, float32(k)), append(stands, k < n && list[k] == x)
		}
		return levels, stands, nil
	}
	for i := range voxels {
		var v int32
		switch typ {
		case grid.Uint8:
			v = int32(raw[i])
		case grid.Uint16:
			v = int32(grid.Values[uint16](raw)[i])
		case grid.Int16:
			v = int32(grid.Values[int16](raw)[i])
		}
		lo := int32(ladder[3].(float32))
		stands = append(stands, v >= lo && v-lo < int32(n))
		v -= least
		if lut != nil {
			v = int32(binary.LittleEndian.Uint32(lut[4*v:]))
		}
		levels = append(levels, float32(v))
	}
	return levels, stands, nil
}

// countStrays adds the number of voxels between levels.
func countStrays(at func(uint64) ([]byte, error), args []any, typ grid.Type) error {
	_, stands, err := levelsOf(at, args[0].(uint64), args[1].(int64), typ, args[2:9])
	if err != nil {
		return err
	}
	to, err := at(args[9].(device.Buffer).Address())
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(to)
	for _, ok := range stands {
		if !ok {
			n++
		}
	}
	binary.LittleEndian.PutUint64(to, n)
	return nil
}

func shapeOf(args []any, flat bool) grid.Shape {
	w, h, n := int64(args[0].(int32)), int64(args[1].(int32)), int64(args[2].(int32))
	if flat {
		return grid.Shape{D: 1, H: n, W: w}
	}
	return grid.Shape{D: n, H: h, W: w}
}

// curveOf returns the curve of an image at an address, computed by the host implementation.
func curveOf(at func(uint64) ([]byte, error), image uint64, shape grid.Shape, typ grid.Type, args []any) (ecc.VCEC, error) {
	levels, _, err := levelsOf(at, image, shape.Voxels(), typ, args)
	if err != nil {
		return nil, err
	}
	ladder, err := grid.Affine(0, 1, int64(args[0].(int32)))
	if err != nil {
		return nil, err
	}
	data := grid.NewBuffer(4 * shape.Voxels())
	copy(grid.Values[float32](data), levels)
	field, err := grid.NewField(shape, grid.Float32, data, ladder)
	if err != nil {
		return nil, err
	}
	job, err := extrema.Implementation{}.Setup(field, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}})
	if err != nil {
		return nil, err
	}
	defer job.Close()
	if err := job.Do(nil); err != nil {
		return nil, err
	}
	return job.Out()
}

// countBatch counts each image of a batch into its own table, which it stores or adds to.
func countBatch(at func(uint64) ([]byte, error), args []any, typ grid.Type, flat bool) error {
	const first = 11
	shape, levels := shapeOf(args[3:6], flat), int64(args[first].(int32))
	if voxels := args[1].(int64); voxels != shape.Voxels() {
		return fmt.Errorf("images of %v are said to have %d voxels", shape, voxels)
	}
	tables, err := at(args[first+7].(device.Buffer).Address())
	if err != nil {
		return err
	}
	for i := range int64(args[2].(int32)) {
		curve, err := curveOf(at, args[0].(uint64)+uint64(i*shape.Voxels()*typ.Size()), shape, typ, args[first:first+7])
		if err != nil {
			return err
		}
		table := tables[4*i*levels : 4*(i+1)*levels]
		if args[7].(int32) == 1 {
			clear(table)
		}
		for _, step := range curve {
			to := table[4*step.Level:]
			binary.LittleEndian.PutUint32(to, binary.LittleEndian.Uint32(to)+uint32(step.Change))
		}
	}
	return nil
}

func countChanges(at func(uint64) ([]byte, error), args []any, typ grid.Type, flat bool) error {
	first := len(args) - 9 // the first of the ladder's parameters, before the table and the copies
	shape := shapeOf(args[1:4], flat)
	curve, err := curveOf(at, args[0].(uint64), shape, typ, args[first:first+7])
	if err != nil {
		return err
	}
	total, err := at(args[first+7].(device.Buffer).Address())
	if err != nil {
		return err
	}
	if copyTo := handsTo(args[8:first]); copyTo != 0 { // handed over, and the total cleared
		word, err := at(args[9].(uint64))
		if err != nil {
			return err
		}
		if total, err = at(copyTo); err != nil {
			return err
		}
		clear(total[:8*args[first].(int32)])
		binary.LittleEndian.PutUint32(word, 1)
	}
	for _, step := range curve {
		to := total[8*step.Level:]
		binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(to)+uint64(step.Change))
	}
	return nil
}

// handsTo returns the address to which a kernel hands its table over, or 0. It is one of the
// optional parameters of kernels.
func handsTo(args []any) uint64 {
	if len(args) == 0 {
		return 0
	}
	return args[0].(uint64)
}

// standIns returns n stand-in devices that are closed at the end of the test.
func standIns(t testing.TB, n int) resident.Opener {
	t.Helper()
	driver := devicetest.New(n, standInKernel)
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// hollow returns the kernels of a source without their bodies, which stand-ins do not use and which
// are slow to read.
func hollow(name string) ([]byte, error) {
	once, _ := hollows.LoadOrStore(name, sync.OnceValues(func() (text []byte, err error) {
		ptx, err := kernels.PTX(name)
		if err != nil {
			return nil, err
		}
		names, err := kernels.Entries(name, ptx)
		for _, n := range names {
			text = fmt.Appendf(text, ".visible .entry %s()\n{\n}\n", n)
		}
		return text, err
	}))
	return once.(func() ([]byte, error))()
}

var hollows sync.Map // the sources read so far, by name

func TestConformanceOnStandIns(t *testing.T) {
	t.Run("one", func(t *testing.T) { ecctest.Run(t, gpu.OnDevice{Open: standIns(t, 1), PTX: hollow}) })
	t.Run("three", func(t *testing.T) {
		ecctest.RunOnceByLevel(t, onAll{gpu.OnDevices{Open: standIns(t, 3), PTX: hollow}})
	})
}

func TestUnreadIsToldOnStandIns(t *testing.T) {
	ecctest.UnreadIsTold(t, gpu.OnDevice{Open: standIns(t, 1), PTX: hollow})
	ecctest.UnreadIsTold(t, onAll{gpu.OnDevices{Open: standIns(t, 3), PTX: hollow}})
}

func TestSuiteCatchesSharedSlicesCountedTwiceOnStandIns(t *testing.T) {
	ecctest.Catches(t, onAll{gpu.CountingTwice(gpu.OnDevices{Open: standIns(t, 2), PTX: hollow})})
}
