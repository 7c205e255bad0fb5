package cuda

import (
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/race"
)

// Frequent calls allocate nothing, alone and within Do, so only an implementation itself allocates.
func TestCallsAllocateNothing(t *testing.T) {
	newFake(t)
	dev := startClosed(t)
	const n = 1000
	s := newStream(t, dev, "main")
	began, ended := must(dev.NewEvent("began"))(t), must(dev.NewEvent("ended"))(t)
	closeAtEnd(t, began)
	closeAtEnd(t, ended)
	buf, host := newBuffer(t, dev, "words", 4*n), must(dev.AllocPinned("host", 4*n))(t)
	closeAtEnd(t, host)
	arr := must(dev.AllocArray("texels", device.ArrayLayout{Texel: device.Uint8, Width: n, Height: 4}))(t)
	closeAtEnd(t, arr)
	fill := kernel(t, dev, "fill")
	args := []any{buf, uint32(7), uint64(n)}
	check(t, s.Record(began), s.Record(ended), s.Wait())
	nothing := func() error { return nil }
	for what, call := range map[string]func() error{
		"Do":             func() error { return dev.Do(nothing) },
		"Launch":         func() error { return s.Launch(fill, device.Launch{}, args...) },
		"Fill":           func() error { return s.Fill(buf, 0, 4*n, 1) },
		"Fill32":         func() error { return s.Fill32(buf, 0, n, 1) },
		"Copy to device": func() error { return s.Copy(buf, 0, host, 0, 4*n) },
		"Copy to host":   func() error { return s.Copy(host, 0, buf, 0, 4*n) },
		"CopySlices":     func() error { return s.CopySlices(arr, 0, 1, buf, 0) },
		"Record":         func() error { return s.Record(ended) },
		"WaitFor":        func() error { return s.WaitFor(began) },
		"Wait":           s.Wait,
		"Event.Wait":     ended.Wait,
	} {
		t.Run(what, func(t *testing.T) { allocates(t, dev, s, call) })
	}
	check(t, s.Record(began), s.Record(ended), s.Wait())
	t.Run("Done", func(t *testing.T) { allocates(t, dev, s, func() error { _, err := ended.Done(); return err }) })
	t.Run("Since", func(t *testing.T) { allocates(t, dev, s, func() error { _, err := ended.Since(began); return err }) })
}

func allocates(t *testing.T, dev device.Device, s device.Stream, call func() error) {
	t.Helper()
	measure := func() float64 {
		return testing.AllocsPerRun(100, func() {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
	apart := measure()
	check(t, s.Wait())
	var within float64
	check(t, dev.Do(func() error {
		within = measure()
		return s.Wait()
	}))
	if race.Enabled {
		return // the binding takes its arguments' memory from a sync.Pool: the calls are watched, not counted
	}
	if apart != 0 || within != 0 {
		t.Errorf("%v allocations of a call by itself, %v of one within Do, want none", apart, within)
	}
}
