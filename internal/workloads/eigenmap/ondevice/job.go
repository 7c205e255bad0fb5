package ondevice

import (
	"errors"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/eigenmap"
)

// A Job computes answers by steps of Lanczos' method on the patches of an image. The patches are on
// the device, or a whole call copies them there.
type Job struct {
	*resident.Program
	eigenmap.Output
	Problem *eigenmap.Problem
	Patches *Patches
	Steps   *Steps
	own     []device.Buffer
	whole   bool
}

// A Plan describes the device data of a job.
type Plan struct {
	Module  string
	Kernels []string // of products, in addition to kernels of steps
	Columns int64    // vectors of the steps
	Narrow  bool     // V is in float32
	Least   float64  // a shorter vector counts as 0
	Buffers []Buffer // in addition to the patches and the steps
}

// A Buffer is memory of the device that a job allocates and stores in a field.
type Buffer struct {
	To    *device.Buffer
	Name  string
	Bytes int64
}

// CanDo returns the device for some conditions, or the reason why its kernels reject the patches.
func CanDo(open resident.Opener, p *eigenmap.Problem, c bench.Conditions, kind string) (device.Device, error) {
	d, err := open(c.Device)
	if err != nil {
		return nil, err
	}
	return d, errors.Join(p.CheckKind(kind), checkPatches(p))
}

// Bytes returns the device memory of the patches and the steps of a job with a number of vectors.
func Bytes(p *eigenmap.Problem, columns int64) int64 {
	return patchBytes(p) + stepBytes(Rows(p), columns, int64(p.K))
}

// Open loads the kernels, allocates the memory, and copies resident data to the device.
func Open(open resident.Opener, p *eigenmap.Problem, c bench.Conditions, plan Plan) (*Job, error) {
	d, err := open(c.Device)
	if err != nil {
		return nil, err
	}
	on, err := resident.NewProgram(d, p.Kind, plan.Module, withSteps(plan.Narrow, plan.Kernels...)...)
	if err != nil {
		return nil, err
	}
	j := &Job{Program: on, Output: eigenmap.NewOutput(p), Problem: p, whole: c.Scope == bench.E2E}
	if err := j.setup(plan); err != nil {
		return nil, errors.Join(err, on.Close())
	}
	return j, nil
}

func (j *Job) setup(plan Plan) error {
	j.Patches = newPatches(j.Program, j.Problem)
	for _, b := range plan.Buffers {
		*b.To = j.NewBuffer(b.Name, b.Bytes)
		j.own = append(j.own, *b.To)
	}
	j.Steps = newSteps(j.Program, Rows(j.Problem), plan.Columns, int64(j.Problem.K), plan.Narrow, plan.Least)
	if err := j.Err(); err != nil || j.whole {
		return err
	}
	return j.Patches.Bring(j.Stream)
}

// Answer times the work and waits for it.
func (j *Job) Answer(trace *bench.Trace, work func() error) error {
	if j.whole {
		if err := trace.Do("patches", func() error { return j.Patches.Bring(j.Stream) }); err != nil {
			return err
		}
	}
	return errors.Join(j.Timed(work), j.Stream.Wait())
}

// Poison overwrites the memory that Out reads, and the data that it is computed from.
func (j *Job) Poison() {
	const poison = 0x5a
	j.Output.Poison()
	j.Fill(poison, append(j.own[:len(j.own):len(j.own)], j.Steps.buffers()...)...)
}

// Close frees the device's memory and kernels.
func (j *Job) Close() error { return j.Program.Close() }
