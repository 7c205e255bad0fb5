package smooth

import (
	"errors"
	"fmt"
	"math"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/counting"
	"eccbench/internal/workloads/smooth"
)

// OnDevice keeps the image in a device's memory: it counts there by the sweep of
// kernels/ecc/ecc_fullsweep.cu, and smooths by kernels/smooth/smooth.cu.
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.OnDevice("smooth-gpu",
		"resident image, counted by the kernel of fullsweep, smoothed along rows in shared memory and across them "+
			"in registers", "Wang et al. 2022, section 5.3", bench.Device)
}

// CanDo rejects a pipeline that it cannot smooth, or that does not fit the device.
func (o OnDevice) CanDo(p *smooth.Pipeline, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	if err := p.Accepted(); err != nil {
		return err
	}
	if s := p.Shape(); s.W > math.MaxInt32/2 || s.H > math.MaxInt32/2 {
		return fmt.Errorf("%v: an axis exceeds the kernels' limit of %d", s, math.MaxInt32/2)
	}
	return resident.Fits(d, 4*grid.TotalBytes(p)+12*p.Ladder().Len(), "the image, twice smoothed and once between")
}

// Setup loads the kernels and copies the image to the device.
func (o OnDevice) Setup(p *smooth.Pipeline, c bench.Conditions) (bench.Job[smooth.Answer], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	counter, err := counting.Open(d, counting.Kernel{
		Module: "ecc_fullsweep", Method: "fullsweep", Shape: p.Shape(), Type: p.Type(), Ladder: p.Ladder(),
		Timed: true, // for the parts of a trace
	})
	if err != nil {
		return nil, err
	}
	j := &deviceJob{Counter: counter, p: p}
	return bench.Ready(j, j.allocate(d))
}

var _ bench.DeviceJob = (*deviceJob)(nil)

type deviceJob struct {
	*counting.Counter
	p             *smooth.Pipeline
	image         device.Buffer    // the original image
	now           [2]device.Buffer // as smoothed so far, and as smoothed next
	between       device.Buffer    // along x only
	rows, columns pass
	began, ended  device.Event // of the last smoothing
	answer        smooth.Answer
}

// A pass is one kernel of the smoothing with its threads.
type pass struct {
	function device.Function
	shape    device.Launch
}

func (j *deviceJob) allocate(d device.Device) (err error) {
	j.image, _ = resident.NewImage(&j.Objects, j.Stream, j.p, false, 0)
	for i := range j.now {
		j.now[i] = j.NewBuffer(fmt.Sprintf("image smoothed %d", i), grid.TotalBytes(j.p))
	}
	j.between = j.NewBuffer("image between the passes", grid.TotalBytes(j.p))
	j.began, j.ended = j.NewEvent("smoothing began"), j.NewEvent("smoothing ended")
	module := j.NewModule("smooth", "smooth_rows", "smooth_columns")
	j.rows.function, j.columns.function = j.Function(module, "smooth_rows"), j.Function(module, "smooth_columns")
	if err := j.Err(); err != nil {
		return err
	}
	if j.rows.shape, err = j.shape(j.rows.function); err != nil {
		return err
	}
	j.columns.shape, err = j.shape(j.columns.function)
	return err
}

// shape returns the launch of a kernel: as many blocks as can run at once.
func (j *deviceJob) shape(kernel device.Function) (device.Launch, error) {
	const block = 256
	resident, err := kernel.Occupancy(block, 0)
	return device.Launch{Grid: device.Dim{X: int64(j.On.Info().SMs) * int64(max(1, resident))},
		Block: device.Dim{X: block}}, err
}

func (j *deviceJob) Do(trace *bench.Trace) error {
	j.answer = smooth.Answer{}
	return j.On.Do(func() error {
		if err := j.Stream.Copy(j.now[0], 0, j.image, 0, j.image.Bytes()); err != nil {
			return err
		}
		for i := int64(1); i <= j.p.Iterations; i++ {
			if err := j.count(i, trace); err != nil {
				return err
			}
			if err := j.smooth(); err != nil {
				return err
			}
			if trace != nil {
				if err := j.part(trace); err != nil {
					return err
				}
			}
			j.now[0], j.now[1] = j.now[1], j.now[0]
		}
		return j.Stream.Wait()
	})
}

// count counts the current image, and sums its changes on the host.
func (j *deviceJob) count(i int64, trace *bench.Trace) error {
	// With a trace, the last smoothing has ended already.
	end := trace.Span("vcec") // the time of the kernel is subtracted below
	defer end()
	if err := j.Begin(); err != nil {
		return err
	}
	n, h, w := cells.Stack(j.p.Shape())
	if err := j.Count(j.Stream, j.now[0], int32(w), int32(h), int32(n), int32(0), int32(n)); err != nil {
		return err
	}
	if err := j.End(); err != nil {
		return err
	}
	j.answer.Add(i, j.p.Iterations, ecc.FromDense(j.Changes()))
	if trace == nil {
		return nil
	}
	took, err := j.Elapsed()
	trace.Add("ecc", took)
	trace.Add("vcec", -took)
	return err
}

// smooth adds the two passes to the stream.
func (j *deviceJob) smooth() error {
	w := smooth.Weights()
	width, height := int32(j.p.Shape().W), int32(j.p.Shape().H)
	return errors.Join(
		j.Stream.Record(j.began),
		j.Stream.Launch(j.rows.function, j.rows.shape, j.now[0], j.between, width, height, w[0], w[1], w[2], w[3], w[4], w[5],
			w[6]),
		j.Stream.Launch(j.columns.function, j.columns.shape, j.between, j.now[1], width, height, j.p.Top(), w[0], w[1], w[2],
			w[3], w[4], w[5], w[6]),
		j.Stream.Record(j.ended))
}

// part adds the device time of the smoothing to the trace.
func (j *deviceJob) part(trace *bench.Trace) error {
	if err := j.Stream.Wait(); err != nil {
		return err
	}
	took, err := j.ended.Since(j.began)
	trace.Add("gaussian", took)
	return err
}

// Elapsed returns the device time of the last count.
func (j *deviceJob) Elapsed() (time.Duration, error) { return j.Counter.Elapsed() }

// Poison overwrites the answer, the changes and the smoothed images.
func (j *deviceJob) Poison() {
	j.answer = smooth.Answer{Sum: bench.Poison}
	for _, b := range []device.Buffer{j.now[0], j.now[1], j.between} {
		// A device that cannot be written to fails at the next call, with the reason.
		_ = j.Stream.Fill(b, 0, b.Bytes(), 0x5a)
	}
	j.Counter.Poison()
}

// Out is the last answer. It is new: the next Do overwrites none of it.
func (j *deviceJob) Out() (smooth.Answer, error) {
	if j.answer.Sum == bench.Poison {
		return j.answer, errors.New("no answer was given")
	}
	return j.answer, nil
}
