//go:build unix

package main

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"eccbench/impls/chunked"
	"eccbench/impls/fullsweep"
	"eccbench/impls/tiled"
	"eccbench/internal/bench"
	"eccbench/internal/cuda"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/counting"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/faults"
	"eccbench/kernels/source"
)

// TestDevice runs the scripts that need a device.
func TestDevice(t *testing.T) {
	if _, err := cuda.Load(); err != nil {
		if os.Getenv(ecctest.RequireDevice) == "1" {
			t.Fatalf("%s=1: %v", ecctest.RequireDevice, err)
		}
		t.Skip(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/device",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"ECCBENCH_LIBCUDA", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"} {
				if v, ok := os.LookupEnv(name); ok {
					e.Setenv(name, v)
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "everywrong": everyWrong},
	})
}

// everyWrong requires a table of verdicts in which every implementation with a
// planted kernel is wrong at least once: everywrong FILE
func everyWrong(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: everywrong FILE")
	}
	table := ts.ReadFile(args[0])
	for _, impl := range plantedKernels(nil) {
		name := impl.About().Name
		// the inputs, the witnesses, those VERIFIED, those WRONG
		if ok, err := regexp.MatchString(`(?m)^ *`+name+` +\d+ +\d+ +\d+ +[1-9]`, table); err != nil || !ok {
			ts.Fatalf("%s is never wrong", name)
		}
	}
}

// plantedKernels are the implementations on a device with each fault of their
// kernels that there is for one, named <implementation>-<fault>.
func plantedKernels(open resident.Opener) []implementation {
	var list []implementation
	add := func(name, module string, with func(ptx func(string) ([]byte, error)) implementation) {
		for _, fault := range source.FaultsOnDevice(module) {
			list = append(list, float32Only{renamed{with(faults.PTX(fault)), name + "-" + fault}})
		}
	}
	add("chunked", "ecc_fullsweep", func(ptx func(string) ([]byte, error)) implementation {
		return chunked.Implementation{Open: open, PTX: ptx}
	})
	add("tiled", "ecc_tiled", func(ptx func(string) ([]byte, error)) implementation {
		return tiled.Implementation{Open: open, PTX: ptx}
	})
	add("fullsweep", "ecc_fullsweep", func(ptx func(string) ([]byte, error)) implementation {
		return fullsweep.Implementation{Open: open, PTX: ptx}
	})
	return list
}

// float32Only rejects the types whose kernels have no planted faults.
type float32Only struct{ implementation }

func (f float32Only) CanDo(in grid.Source, c bench.Conditions) error {
	if in.Type() != grid.Float32 {
		return fmt.Errorf("%v: faults are planted in float32 kernels only", in.Type())
	}
	return f.implementation.CanDo(in, c)
}

// failingKernels are implementations whose kernels do not count but fail
// (kernels/faults/misbehave.cu).
func failingKernels(open resident.Opener) []implementation {
	return []implementation{failing{open, "oob"}, failing{open, "endless"}, failing{open, "greedy"}}
}

type failing struct {
	open resident.Opener
	kind string
}

func (f failing) About() bench.About {
	return bench.About{Name: f.kind, Where: "gpu", Method: "fails", Source: "none", Scopes: bench.Scopes()}
}

func (f failing) CanDo(in grid.Source, c bench.Conditions) error {
	if in.Type() != grid.Float32 || in.Shape().D == 1 {
		return fmt.Errorf("%v %v: the kernel that fails is for 3D images of float32", in.Shape(), in.Type())
	}
	_, err := f.open(c.Device)
	return err
}

// Setup launches the greedy kernel once, with more shared memory than there is.
func (f failing) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	d, err := f.open(c.Device)
	if err != nil {
		return nil, err
	}
	counter, err := counting.Open(d, counting.Kernel{
		Module: "misbehave", Method: f.kind, PTX: func(string) ([]byte, error) { return faults.Misbehaving(), nil }, Shape: in.Shape(), Type: in.Type(), Ladder: in.Ladder(),
	})
	if err != nil {
		return nil, err
	}
	if f.kind == "greedy" {
		if err := launchGreedily(d, counter.Stream); err != nil {
			return nil, err
		}
	}
	return &failingJob{counter}, nil
}

func launchGreedily(d device.Device, s device.Stream) error {
	m, err := d.LoadModule("misbehave", faults.Misbehaving())
	if err != nil {
		return err
	}
	defer m.Close()
	kernel, err := m.Function("ecc_greedy_3d_float32")
	if err != nil {
		return err
	}
	zero := []any{int32(0), int32(0), int32(0), float32(0), float32(0), uint64(0), uint64(0), uint64(0), int32(0)}
	return s.Launch(kernel, device.Launch{Block: device.Dim{X: 32}, Shared: d.Info().SharedOptIn + 1024}, zero...)
}

type failingJob struct{ *counting.Counter }

func (j *failingJob) Do(*bench.Trace) error {
	if err := j.Begin(); err != nil {
		return err
	}
	if err := j.Count(j.Stream); err != nil {
		return err
	}
	return j.End()
}

func (j *failingJob) Out() (ecc.VCEC, error) { return ecc.FromDense(j.Changes()), nil }
