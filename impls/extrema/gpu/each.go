package gpu

import (
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// SetupEach binds the kernels to a resident batch. Each image is counted by its own launch, one
// after the other.
func (o OnDevice) SetupEach(in grid.Batch, c bench.Conditions) (bench.Job[[]ecc.VCEC], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	one, err := o.bind(d, in, in.Image(), c, true)
	if err != nil {
		return nil, err
	}
	return &eachJob{deviceJob: one, images: in.Images, first: one.at, changes: make([]int64, in.Ladder().Len()*in.Images)},
		nil
}

// An eachJob is a deviceJob that processes the images in turn.
type eachJob struct {
	*deviceJob
	images  int64
	first   uint64
	changes []int64 // of all images
	elapsed time.Duration
}

func (j *eachJob) Do(trace *bench.Trace) error {
	defer trace.Span("count")()
	j.elapsed = 0
	levels, size := j.in.Ladder().Len(), uint64(grid.TotalBytes(j.in)/j.images)
	return j.On.Do(func() error {
		for i := range j.images {
			j.at = j.first + uint64(i)*size
			if err := j.count(); err != nil {
				return err
			}
			copy(j.changes[i*levels:], j.last.Changes())
			if !j.timed {
				continue
			}
			took, err := j.last.Elapsed()
			if err != nil {
				return err
			}
			j.elapsed += took
		}
		return nil
	})
}

// Elapsed returns the total device time of all launches, without the time between them.
func (j *eachJob) Elapsed() (time.Duration, error) { return j.elapsed, nil }

// Out returns a curve per image.
func (j *eachJob) Out() ([]ecc.VCEC, error) {
	levels := j.in.Ladder().Len()
	out := make([]ecc.VCEC, j.images)
	for i := range out {
		out[i] = ecc.FromDense(j.changes[int64(i)*levels : int64(i+1)*levels])
	}
	return out, nil
}

func (j *eachJob) Poison() {
	j.deviceJob.Poison()
	bench.PoisonEach(j.changes)
}

func (j *eachJob) Launches() int64 { return j.last.Launches() }
