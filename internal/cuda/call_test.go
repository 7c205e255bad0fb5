package cuda

import (
	"errors"
	"math"
	"slices"
	"testing"

	"eccbench/internal/device"
)

// BenchmarkCall is the overhead of this package for a launch with many arguments. The stand-in only
// records calls.
func BenchmarkCall(b *testing.B) {
	newFake(b, "-DWITHOUT_PARAM_INFO")
	dev := start(b)
	defer dev.Close()
	s := must(dev.NewStream("main"))(b)
	defer s.Close()
	buf := must(dev.Alloc("words", 4))(b)
	defer buf.Close()
	m := must(dev.LoadModule("kernels", kernels(b)))(b)
	defer m.Close()
	spin := must(m.Function("spin"))(b)
	args := []any{
		buf.Address(), int32(1), int32(2), int32(3), int32(4), float32(5), float32(6), uint32(7), uint64(8), uint64(9),
		int32(10), int32(11), int32(12), float32(13), float32(14), uint64(0), buf, buf, int32(15),
	}
	shape := device.Launch{Grid: device.Dim{X: 132}, Block: device.Dim{X: 384}, Shared: 4 << 10}
	launch := func() error { return s.Launch(spin, shape, args...) }
	for name, call := range map[string]func() error{"by itself": launch, "within Do": func() error { return dev.Do(launch) }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				err := call()
				if i%1024 == 0 && err == nil {
					err = s.Wait() // adding work to the stream takes memory
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestProgram(t *testing.T) {
	f := newFake(t)
	dev := startClosed(t).(device.Guest)
	m := must(dev.LoadModule("kernels", kernels(t)))(t)
	defer m.Close()
	fill := must(m.Function("fill"))(t)
	shape := device.Launch{Grid: device.Dim{X: 4, Y: 2}, Block: device.Dim{X: 256}, Shared: 8}
	f.log()
	program, err := dev.Program(func(s device.Stream) error {
		at := dev.LentBuffer("words", device.SlotAddress(2)+24, 400)
		return errors.Join(s.Launch(fill, shape, at, uint32(7), uint64(1000)), s.Launch(fill, shape, at, int32(-1), int64(0)))
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls := f.log(); slices.Contains(calls, "cuLaunchKernel") {
		t.Errorf("calls %v", calls)
	}
	c := dev.(*context)
	launch := []uint64{uint64(fill.(*function).handle), 4, 2, 1, 256, 1, 1, 8, 3, 3, 24, 0}
	want := slices.Concat(
		[]uint64{uint64(c.lib.fn[cuLaunchKernel]), uint64(c.lib.fn[cuCtxGetCurrent]), uint64(c.handle), 2},
		launch, []uint64{7, 0, 1000}, launch, []uint64{math.MaxUint32, 0, 0})
	if !slices.Equal(program, want) {
		t.Errorf("program %v, want %v", program, want)
	}
	if _, err := dev.Program(func(s device.Stream) error { return s.Launch(fill, shape) }); err == nil {
		t.Error("a launch without arguments has a program")
	}
	f.log()
	_, err = dev.Program(func(s device.Stream) error {
		return s.Fill(dev.LentBuffer("words", device.SlotAddress(0), 400), 0, 400, 0)
	})
	if calls := f.log(); err == nil || len(calls) > 0 {
		t.Errorf("a program that fills memory: %v, calls %v", err, calls)
	}
}
