package batch

import (
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/batch"
)

// Reader reads the files of a batch, several at a time.
type Reader struct{}

// About describes the method.
func (Reader) About() bench.About {
	return bench.OnHost(batch.Reading, "reads every byte of a batch once, several files at a time: its ceiling",
		"STREAM-like read", bench.File)
}

// CanDo accepts every batch.
func (Reader) CanDo(*batch.Batch, bench.Conditions) error { return nil }

// atOnce returns the number of files to read at the same time: twice the cores, since most reads
// wait for the disk.
func atOnce(c bench.Conditions) int { return 2 * max(1, c.Threads) }

// Setup allocates an image for each file that is read at the same time.
func (Reader) Setup(b *batch.Batch, c bench.Conditions) (bench.Job[uint64], error) {
	j := &readJob{batch: b}
	for range min(atOnce(c), b.Len()) {
		j.buffers = append(j.buffers, grid.NewBuffer(grid.TotalBytes(b.First())))
	}
	return j, nil
}

type readJob struct {
	batch   *batch.Batch
	buffers [][]byte
	sum     atomic.Uint64
}

func (j *readJob) Do(trace *bench.Trace) error {
	defer trace.Span("read")()
	j.sum.Store(0)
	return batch.Spread(j.batch.Len(), len(j.buffers), func(worker, i int) error {
		if err := j.batch.ReadImage(int64(i), j.buffers[worker]); err != nil {
			return err
		}
		j.sum.Add(grid.Sum64(j.buffers[worker]))
		return nil
	})
}

func (j *readJob) Poison() {
	j.sum.Store(1<<63 | 0x5a5a5a5a)
	for _, b := range j.buffers {
		clear(b)
	}
}

func (j *readJob) Out() (uint64, error) { return j.sum.Load(), nil }

func (j *readJob) Close() error { return nil }
