package binned

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// A recorder notes what a device is asked for, and has it fail from some number of times on.
type recorder struct {
	asked []string
	lasts int
	open  int // modules
}

func (r *recorder) note(format string, args ...any) error {
	if len(r.asked) == r.lasts {
		return gridtest.ErrUnread
	}
	r.asked = append(r.asked, fmt.Sprintf(format, args...))
	return nil
}

// A recorded device is of as much as Arrays use: kernels that are loaded and launched.
type recorded struct {
	device.Device
	*recorder
}

func (recorded) Info() device.Info       { return device.Info{Major: 8, SMs: 3, Shared: 1 << 15} }
func (recorded) Do(f func() error) error { return f() }
func (r recorded) LoadModule(name string, _ []byte) (device.Module, error) {
	if err := r.note("load %s", name); err != nil {
		return nil, err
	}
	r.open++
	return recordedModule{recorder: r.recorder}, nil
}

type recordedModule struct {
	device.Module
	*recorder
}

func (m recordedModule) Close() error { m.open--; return nil }
func (m recordedModule) Function(name string) (device.Function, error) {
	return recordedKernel{recorder: m.recorder, name: name}, m.note("find %s", name)
}

type recordedKernel struct {
	device.Function
	*recorder
	name string
}

func (k recordedKernel) Attributes() device.Attributes { return device.Attributes{} }
func (k recordedKernel) Occupancy(threads, _ int64) (int, error) {
	return 5, k.note("fit %s of %d", k.name, threads)
}

type recordedStream struct {
	device.Stream
	*recorder
}

func (s recordedStream) Fill32(_ device.Buffer, at, n int64, value uint32) error {
	return s.note("fill %d words from %d by %d", n, at, value)
}

func (s recordedStream) Launch(f device.Function, l device.Launch, args ...any) error {
	return s.note("launch %s in %d", f.(recordedKernel).name, l.Grid.X)
}

// Arrays refuse images without an answer, load the kernels for rows as they are aligned, and launch
// them in their turns; where any of that fails they say so, and leave nothing behind.
func arraysAreOpened(t *testing.T) {
	nine := grid.Shape{W: 3, H: 3, D: 1}
	for _, c := range []struct {
		kind ArrayKind
		want string
	}{
		{ArrayKind{Shape: nine, Thresholds: 0, Bins: 9}, "0 thresholds"}, {ArrayKind{Shape: nine, Thresholds: 1 << 31, Bins: 9}, "thresholds, 9 bins"},
		{ArrayKind{Shape: nine, Thresholds: 1, Bins: 3}, "3 bins"}, {ArrayKind{Shape: nine, Thresholds: 1, Bins: 1<<18 + 1}, "262145 bins"},
		{ArrayKind{Shape: grid.Shape{W: math.MaxInt32, H: 1, D: 1}, Thresholds: 1, Bins: 9}, "longer ones"}, {ArrayKind{Thresholds: 1, Bins: 9}, "every axis"},
		{ArrayKind{Shape: nine, Thresholds: 1, Bins: 4}, gridtest.ErrUnread.Error()}, {ArrayKind{Shape: nine, Thresholds: 1<<31 - 1, Bins: 1 << 18}, gridtest.ErrUnread.Error()},
	} {
		if _, err := OpenArrays(recorded{recorder: &recorder{}}, c.kind); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.kind, err, c.want)
		}
	}
	for _, c := range []struct {
		shape   grid.Shape
		align   int64
		kernels string
		changes int64
	}{
		{grid.Shape{W: 4, H: 3, D: 1}, 16, "2d", 12}, {grid.Shape{W: 4, H: 3, D: 1}, 8, "2d_unaligned", 12}, {grid.Shape{W: 5, H: 3, D: 1}, 16, "2d_unaligned", 24},
		{grid.Shape{W: 6, H: 3, D: 2}, 32, "3d_unaligned", 48}, {grid.Shape{W: 8, H: 3, D: 2}, 48, "3d", 48}, {grid.Shape{W: 20, H: 1, D: 2}, 4, "3d_unaligned", 40},
	} {
		beside := strings.TrimLeft(c.kernels, "23d")
		forward, backward := "softecc_bins_"+c.kernels+"_float32", "softecc_bins_backward"+beside+"_float32"
		want := []string{
			"load softecc_curve", "find softecc_curve", "find softecc_table", "load softecc_float32", "find " + forward, "fit " + forward + " of 256", "find " + backward, "fit " + backward + " of 256",
			"fill 62 words from 0 by 0", "launch " + forward + " in 15", "launch softecc_curve in 7", "launch softecc_table in 3", "launch " + backward + " in 15",
		}
		for lasts := range len(want) + 1 {
			r := &recorder{lasts: lasts}
			err := func() error {
				o, err := OpenArrays(recorded{recorder: r}, ArrayKind{Shape: c.shape, Thresholds: 7, Bins: 10, Align: c.align})
				if err != nil {
					return err
				}
				if o.Blocks() != 15 || o.Changes() != c.changes || o.Work() != 8*31 {
					t.Errorf("%v: %d moments, %d bytes of changes, %d to work in", c.shape, o.Blocks(), o.Changes(), o.Work())
				}
				s := recordedStream{recorder: r}
				return errors.Join(o.Forward(s, ArrayMemory{}), o.Backward(s, ArrayMemory{}), o.Close())
			}()
			if !slices.Equal(r.asked, want[:lasts]) || r.open != 0 || (err == nil) != (lasts == len(want)) {
				t.Fatalf("%v, align %d: asked for %q, want %q, %d modules are open, %v", c.shape, c.align, r.asked, want[:lasts], r.open, err)
			}
		}
	}
}
