// Package counting runs kernels that count the Betti numbers of an image in a device's memory.
package counting

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// Bytes is what a job's own memory on the device takes, beside what a plan asks for: the image,
// and the sums of components, cavities and χ, in 32 copies that blocks add to.
func Bytes(in grid.Source) int64 { return imageBytes(in) + sumBytes }

const sumBytes = 32 * 3 * 8

// imageBytes are whole words of 16 bytes, which kernels read.
func imageBytes(in grid.Source) int64 { return (grid.TotalBytes(in) + 15) / 16 * 16 }

// A Plan is how kernels count an image.
type Plan struct {
	Module  string
	Scratch []Scratch // what they leave for each other, undefined before each call
	// Launches are the kernels in order, given the image, the scratch and the sums.
	Launches func(image device.Buffer, scratch []device.Buffer, sums device.Buffer) []Launch
}

// Scratch is memory of the device.
type Scratch struct {
	Name  string
	Bytes int64
}

// A Launch is a kernel with its threads, its dynamic shared memory in bytes and its parameters.
type Launch struct {
	Kernel                  string
	Blocks, Threads, Shared int64
	Args                    []any
}

// A Job counts a resident image, or in whole calls one that it brings there.
type Job struct {
	*resident.Watch
	on         device.Device
	stream     device.Stream
	start, end device.Event
	module     device.Module
	steps      []step

	image, sums device.Buffer
	scratch     []device.Buffer
	result      device.Pinned
	feed        *resident.Feed // of whole calls
}

type step struct {
	kernel device.Function
	shape  device.Launch
	args   []any
}

// Open loads the kernels and copies the image to the device.
func Open(d device.Device, in grid.Source, c bench.Conditions, p Plan) (*Job, error) {
	j := &Job{Watch: resident.NewWatch(d), on: d}
	if err := j.setup(in, c, p); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Job) setup(in grid.Source, c bench.Conditions, p Plan) (err error) {
	if j.stream, err = j.on.NewStream("Betti numbers"); err != nil {
		return err
	}
	if j.start, err = j.on.NewEvent("start"); err != nil {
		return err
	}
	if j.end, err = j.on.NewEvent("end"); err != nil {
		return err
	}
	if j.image, err = j.on.Alloc("image", imageBytes(in)); err != nil {
		return err
	}
	if c.Scope == bench.Kernel || c.Scope == bench.Device {
		err = resident.Stage(j.on, j.stream, j.image, 0, in)
	} else {
		j.feed, err = resident.NewFeed(j.on, in, 0, c.Threads)
	}
	if err != nil {
		return err
	}
	for _, s := range p.Scratch {
		b, err := j.on.Alloc(s.Name, s.Bytes)
		if err != nil {
			return err
		}
		j.scratch = append(j.scratch, b)
	}
	if j.sums, err = j.on.Alloc("sums", sumBytes); err != nil {
		return err
	}
	if j.result, err = j.on.AllocPinned("sums on the host", sumBytes); err != nil {
		return err
	}
	j.Poison()
	return j.load(p.Module, p.Launches(j.image, j.scratch, j.sums))
}

func (j *Job) load(module string, list []Launch) (err error) {
	var names []string
	for _, l := range list {
		names = append(names, l.Kernel)
	}
	if j.module, err = resident.Load(j.on, module, names...); err != nil {
		return err
	}
	for _, l := range list {
		f, err := j.module.Function(l.Kernel)
		if err != nil {
			return err
		}
		if l.Shared+f.Attributes().Shared > j.on.Info().Shared {
			if err := f.AllowShared(l.Shared); err != nil {
				return err
			}
		}
		j.steps = append(j.steps, step{f, device.Launch{Grid: device.Dim{X: l.Blocks}, Block: device.Dim{X: l.Threads}, Shared: l.Shared}, l.Args})
	}
	return nil
}

// Limit is a threshold as a kernel's parameter: a float32, or for integers the greatest one
// that is not above it, an int32, one less than the least where there is none.
func Limit(t grid.Type, threshold float32) any {
	least, most := 0.0, float64(math.MaxUint16)
	switch t {
	case grid.Float32:
		return threshold
	case grid.Int16:
		least, most = math.MinInt16, math.MaxInt16
	}
	return int32(min(max(math.Floor(float64(threshold)), least-1), most))
}

// Do counts on the device; a whole call brings the image there first.
func (j *Job) Do(*bench.Trace) error {
	if j.feed != nil {
		if err := j.feed.Add(j.stream, j.image, 0); err != nil {
			return err
		}
	}
	return j.on.Do(func() error { return j.count(j.steps) })
}

func (j *Job) count(steps []step) error {
	if err := errors.Join(j.stream.Record(j.start), j.stream.Fill32(j.sums, 0, sumBytes/4, 0)); err != nil {
		return err
	}
	for _, s := range steps {
		if err := j.stream.Launch(s.kernel, s.shape, s.args...); err != nil {
			return err
		}
	}
	return errors.Join(j.stream.Record(j.end), j.stream.Copy(j.result, 0, j.sums, 0, sumBytes), j.stream.Wait())
}

// EachKernel runs the kernels by themselves, each on what the last call left, the second-level
// cache empty before, and calls f with what each took on the device.
func (j *Job) EachKernel(f func(kernel string, took time.Duration)) error {
	for i, s := range j.steps {
		if err := errors.Join(j.Cool(), j.count(j.steps[i:i+1])); err != nil {
			return err
		}
		took, err := j.Elapsed()
		if err != nil {
			return err
		}
		f(s.kernel.Name(), took)
	}
	return nil
}

// Elapsed is what the last Do took on the device.
func (j *Job) Elapsed() (time.Duration, error) { return j.end.Since(j.start) }

// Cool empties the device's second-level cache.
func (j *Job) Cool() error { return errors.Join(j.on.FlushL2(j.stream), j.stream.Wait()) }

// Poison overwrites what Out reads, and what it is made of.
func (j *Job) Poison() {
	const poison = 0x5a
	for _, b := range append(j.scratch[:len(j.scratch):len(j.scratch)], j.sums) {
		// A device that cannot be written to fails at the next call, with the reason.
		_ = j.stream.Fill(b, 0, b.Bytes(), poison)
	}
	_ = j.stream.Wait()
	clear(j.result.Data())
	poisoned := int64(bench.Poison)
	for what := range 3 { // of which all numbers are made
		binary.LittleEndian.PutUint64(j.result.Data()[8*what:], uint64(poisoned))
	}
}

// Sums are components of the set, those around it but the outside, and χ, of the last call.
func (j *Job) Sums() (components, cavities, characteristic int64) {
	var sums [3]int64
	for i := range int64(sumBytes / 8) {
		sums[i%3] += int64(binary.LittleEndian.Uint64(j.result.Data()[8*i:]))
	}
	return sums[0], sums[1], sums[2]
}

// Close frees the device's memory and kernels.
func (j *Job) Close() error {
	var errs []error
	if j.stream != nil {
		errs = append(errs, j.stream.Wait())
	}
	if j.feed != nil {
		errs = append(errs, j.feed.Close())
	}
	errs = append(errs, resident.CloseAll(j.result, j.sums))
	for _, b := range j.scratch {
		errs = append(errs, b.Close())
	}
	errs = append(errs, resident.CloseAll(j.image, j.module, j.end, j.start), j.Watch.Close())
	if j.stream != nil {
		errs = append(errs, j.stream.Close())
	}
	return errors.Join(errs...)
}
