package counting

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/kernels"
)

// A loader is a device that notes the kernels it was given to compile.
type loader struct {
	device.Device
	compiled []string
	machine  int // modules that it was given as machine code
	refuse   error
	minor    int // of its compute capability
}

func (l *loader) Info() device.Info {
	info := l.Device.Info()
	info.Minor = l.minor
	return info
}

func (l *loader) LoadModule(name string, code []byte) (device.Module, error) {
	if devicetest.IsMachine(code) {
		l.machine++
		return l.Device.LoadModule(name, code)
	}
	names, err := kernels.Entries(name, code)
	if l.compiled = append(l.compiled, names...); l.refuse != nil {
		err = l.refuse
	}
	if err != nil {
		return nil, err
	}
	return l.Device.LoadModule(name, code)
}

// A device without matching machine code compiles only the kernels of a module that will be
// launched. A failure to load is reported, and leaves nothing loaded.
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
		l := &loader{Device: d, refuse: c.refuse, minor: 6}
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
		if !slices.Equal(l.compiled, c.compiled) || l.machine > 0 {
			t.Errorf("%s: %v were compiled, want %v, and %d modules machine code", method, l.compiled, c.compiled, l.machine)
		}
	}
}

// Machine code for the device is loaded. If the driver rejects it, the kernels are compiled. Other
// errors are not hidden by that.
func TestLoadFallsBackOnPTX(t *testing.T) {
	const module, kernel = "ecc_extrema_float32", "ecc_extrema_3d_float32"
	for name, c := range map[string]struct {
		minor    int
		refuses  bool
		machine  int
		compiled []string
	}{
		"taken":      {machine: 1},
		"refused":    {refuses: true, machine: 1, compiled: []string{kernel}},
		"none of it": {minor: 6, compiled: []string{kernel}},
	} {
		driver := devicetest.New(1, func(string) devicetest.Kernel {
			return func(device.Launch, func(uint64) ([]byte, error), []any) error { return nil }
		})
		if c.refuses {
			driver.RefuseMachineCode()
		}
		d, err := driver.Open(0)
		if err != nil {
			t.Fatal(err)
		}
		l := &loader{Device: d, minor: c.minor}
		m, err := resident.Load(l, module, kernel)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := m.Function(kernel); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if l.machine != c.machine || !slices.Equal(l.compiled, c.compiled) {
			t.Errorf("%s: %d modules were machine code, want %d, and %v were compiled, want %v", name, l.machine, c.machine, l.compiled, c.compiled)
		}
		if err := errors.Join(m.Close(), d.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		l.compiled = nil
		_, err = resident.Load(l, module, kernel)
		if err == nil || !strings.HasPrefix(err.Error(), "kernel "+kernel+": ") || !slices.Equal(l.compiled, c.compiled) {
			t.Errorf("%s: on a closed device %v, and %v were compiled", name, err, l.compiled)
		}
		for _, none := range [][]string{{"ecc_none", "a"}, {module, "a"}} {
			if m, err := resident.Load(l, none[0], none[1]); err == nil {
				_, err = m.Function(none[1])
				if err == nil {
					t.Errorf("%s: %v is there", name, none)
				}
			}
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

// standIn opens a stand-in for a device, which must be empty at the end.
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
