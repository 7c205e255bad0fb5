package cuda

import (
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
