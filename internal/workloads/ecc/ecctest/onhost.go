package ecctest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/kernels/hosttest"
	"eccbench/kernels/source"
)

// OnHost opens a stand-in for a device. It runs the kernels of a module of sweeps, compiled for the
// host, with a fault or with "none".
func OnHost(t testing.TB, module, fault string) resident.Opener {
	t.Helper()
	program := hosttest.Program(t, module)
	driver := devicetest.New(1, func(name string) devicetest.Kernel {
		return func(shape device.Launch, at func(uint64) ([]byte, error), args []any) error {
			return launch(program, fault, name, shape, at, args)
		}
	})
	return Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// launch runs a program (kernels/onhost/launch.cc) with the arguments of a kernel: an image,
// numbers, a ladder, a table and copies.
func launch(program, fault, name string, shape device.Launch, at func(uint64) ([]byte, error), args []any) (err error) {
	memory := func(arg any) (data []byte) {
		switch m := arg.(type) {
		case device.Memory:
			if err == nil {
				data, err = at(m.Address())
			}
		case device.Texture:
			if err == nil {
				data, err = at(m.Handle())
			}
		}
		return data
	}
	const ofLadder, numbers = 7, 5 // parameters of a ladder, and of those numbers
	rest := args[len(args)-ofLadder-2:]
	image, lut, values, total := memory(args[0]), memory(rest[numbers]), memory(rest[numbers+1]), memory(rest[ofLadder])
	if err != nil {
		return err
	}
	levels := rest[0].(int32)
	list := []string{fault, name}
	add := func(more ...any) {
		for _, arg := range more {
			if f, ok := arg.(float32); ok {
				arg = math.Float32bits(f)
			}
			list = append(list, fmt.Sprint(arg))
		}
	}
	add(shape.Grid.X, shape.Block.X, shape.Shared, len(image), 0, "adds", levels, 8)
	add(args[1 : len(args)-len(rest)]...)
	add(rest[:numbers]...)
	add(len(lut)/4, len(values)/4, rest[ofLadder+1])
	var out, problem bytes.Buffer
	c := exec.Command(program, list...)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(bytes.Join([][]byte{image, lut, values}, nil)), &out, &problem
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(problem.String()))
	}
	if out.Len() != 8*int(levels) {
		return fmt.Errorf("%s: a table of %d bytes for %d levels", name, out.Len(), levels)
	}
	for i := 0; i < out.Len(); i += 8 {
		binary.LittleEndian.PutUint64(total[i:], binary.LittleEndian.Uint64(total[i:])+binary.LittleEndian.Uint64(out.Bytes()[i:]))
	}
	return nil
}

// RunOnHost compares the kernels of a module of sweeps, compiled for the host, with the enumeration
// of all cells, and checks that unreadable images are told. It also plants the faults that show when
// threads run one after the other, and requires that a case shows each.
func RunOnHost(t *testing.T, module string, planted []string, with func(resident.Opener) bench.Implementation[grid.Source, ecc.VCEC]) {
	cases := Cases(t)
	wants := make([]ecc.VCEC, len(cases))
	for i, c := range cases {
		wants[i] = ecc.Enumerate(c.Field)
	}
	ask := func(impl bench.Implementation[grid.Source, ecc.VCEC], i int) (ecc.VCEC, error) {
		return bench.Answer[grid.Source, ecc.VCEC](impl, cases[i].Field, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}})
	}
	t.Run("right", func(t *testing.T) {
		impl := with(OnHost(t, module, "none"))
		for i, c := range cases {
			got, err := ask(impl, i)
			if err != nil {
				t.Errorf("%s: %v", c.Name, err)
			} else if d := ecc.Policy().Agree(c.Field, wants[i], got); d != nil {
				t.Errorf("%s: enumeration of all cells: %v", c.Name, d)
			}
		}
	})
	t.Run("unread", func(t *testing.T) {
		driver := devicetest.New(1, func(string) devicetest.Kernel {
			return func(device.Launch, func(uint64) ([]byte, error), []any) error { return nil }
		})
		UnreadIsTold(t, with(Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))))
	})
	for _, fault := range planted {
		t.Run(fault, func(t *testing.T) {
			if source.OnDeviceAlone(fault) {
				t.Skip("it shows on a device alone, where threads run at the same time")
			}
			impl := with(OnHost(t, module, fault))
			for i, c := range cases {
				if c.Field.Type() != grid.Float32 {
					continue // only float32 has kernels with faults
				}
				got, err := ask(impl, i)
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				if d := ecc.Policy().Agree(c.Field, wants[i], got); d != nil {
					t.Logf("%s: %v", c.Name, d)
					return
				}
			}
			t.Error("no case of the suite shows it")
		})
	}
}

// Modules are the kernels of modules, compiled for the host, with a defect or none, on a stand-in
// for a device of eight multiprocessors.
func Modules(t testing.TB, fault string, modules ...string) resident.Opener {
	t.Helper()
	return eight(t, hosttest.Modules(t, fault, modules...))
}

// Interleaved is Modules without a defect, and with threads in a random order (hosttest.Interleaved).
func Interleaved(t testing.TB, seed int, modules ...string) resident.Opener {
	t.Helper()
	return eight(t, hosttest.Interleaved(t, seed, modules...))
}

func eight(t testing.TB, kernels func(name string) devicetest.Kernel) resident.Opener {
	driver := devicetest.New(1, kernels)
	driver.Multiprocessors(8)
	return Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}
