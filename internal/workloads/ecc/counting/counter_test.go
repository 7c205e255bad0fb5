package counting

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/kernels"
)

// A loader is a device that notes the kernels it was given to compile.
type loader struct {
	device.Device
	compiled []string
	refuse   error
}

func (l *loader) LoadModule(name string, code []byte) (device.Module, error) {
	names, err := kernels.Entries(name, code)
	if l.compiled = append(l.compiled, names...); l.refuse != nil {
		err = l.refuse
	}
	if err != nil {
		return nil, err
	}
	return l.Device.LoadModule(name, code)
}

// A device is given the kernels of a module that will be launched to compile, and no
// others. What cannot be loaded is named, and nothing is left of it.
func TestOpenLoadsWhatIsLaunched(t *testing.T) {
	d, err := standIn(t)
	if err != nil {
		t.Fatal(err)
	}
	k := Kernel{Module: "ecc_extrema_float32", Shape: grid.Shape{D: 2, H: 2, W: 2}, Type: grid.Float32, Ladder: ladder(t, 3)}
	for method, c := range map[string]struct {
		others, compiled []string
		refuse           error
		want             string
	}{
		"extrema":        {compiled: []string{"ecc_extrema_3d_float32"}},
		"extrema_single": {others: []string{"ecc_extrema_strays_float32"}, compiled: []string{"ecc_extrema_single_3d_float32", "ecc_extrema_strays_float32"}},
		"none":           {want: "kernels ecc_extrema_float32: no kernel called ecc_none_3d_float32"},
		"extrema_small":  {others: []string{"nothing"}, want: "kernels ecc_extrema_float32: no kernel called nothing"},
		"extrema_unaligned": {
			compiled: []string{"ecc_extrema_unaligned_3d_float32"}, refuse: errors.New("too new"), want: "kernel ecc_extrema_unaligned_3d_float32: too new",
		},
	} {
		l := &loader{Device: d, refuse: c.refuse}
		k.Method, k.Others = method, c.others
		counter, err := Open(l, k)
		if err == nil {
			_, missing := counter.module.Function("ecc_extrema_2d_float32")
			if missing == nil {
				t.Errorf("%s: a kernel that was not asked for is there", method)
			}
			err = counter.Close()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", method, err, c.want)
		}
		if !slices.Equal(l.compiled, c.compiled) {
			t.Errorf("%s: %v were compiled, want %v", method, l.compiled, c.compiled)
		}
	}
}

func ladder(t *testing.T, levels int64) grid.Ladder {
	t.Helper()
	l, err := grid.Affine(0, 1, levels)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// standIn is a stand-in of a device, of which nothing may be left.
func standIn(t *testing.T) (device.Device, error) {
	t.Helper()
	d, err := devicetest.New(1, func(string) devicetest.Kernel {
		return func(device.Launch, func(uint64) ([]byte, error), []any) error { return nil }
	}).Open(0)
	if err == nil {
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return d, err
}
