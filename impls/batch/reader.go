package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// Reading is the name of the workload that reads a batch and does nothing else: the
// ceiling of every implementation of Workload.
const Reading = "memread-batch"

// ReadingWorkload is the question: what is the sum of the bytes of all images, each
// taken as 64-bit words and the last one filled up with zeros?
func ReadingWorkload() bench.Workload[*Batch, uint64] {
	return bench.Workload[*Batch, uint64]{
		Name: Reading, Inputs: Inputs{}, Impls: []bench.Implementation[*Batch, uint64]{Reader{}},
		Policy: verify.Policy[*Batch, uint64]{
			Agree: func(_ *Batch, want, got uint64) *verify.Diff {
				if want == got {
					return nil
				}
				return &verify.Diff{Where: "sum", Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
			},
			Laws: []verify.Law[*Batch, uint64]{{Name: "sum of each image in order", Independent: true, Work: summing, Check: inOrder}},
		},
		Encode: func(sum uint64) []byte { return binary.LittleEndian.AppendUint64(nil, sum) },
		Decode: func(b []byte) (uint64, error) {
			if len(b) != 8 {
				return 0, errors.New("malformed sum")
			}
			return binary.LittleEndian.Uint64(b), nil
		},
	}
}

// Reader reads the files of a batch, several at a time.
type Reader struct{}

// About describes the method.
func (Reader) About() bench.About {
	return bench.About{
		Name: Reading, Where: "cpu",
		Method: "reads every byte of a batch once, several files at a time: its ceiling",
		Source: "STREAM-like read", Scopes: []bench.Scope{bench.File},
	}
}

// CanDo accepts every batch.
func (Reader) CanDo(*Batch, bench.Conditions) error { return nil }

// atOnce is how many files are read at the same time: twice as many as there are
// cores, since most of them wait for the disk.
func atOnce(c bench.Conditions) int { return 2 * max(1, c.Threads) }

// Setup allocates an image for each file that is read at the same time.
func (Reader) Setup(b *Batch, c bench.Conditions) (bench.Job[uint64], error) {
	j := &readJob{batch: b}
	for range min(atOnce(c), b.Len()) {
		j.buffers = append(j.buffers, grid.NewBuffer(grid.TotalBytes(b.like)))
	}
	return j, nil
}

type readJob struct {
	batch   *Batch
	buffers [][]byte
	sum     atomic.Uint64
}

func (j *readJob) Do(trace *bench.Trace) error {
	defer trace.Span("read")()
	j.sum.Store(0)
	return spread(j.batch.Len(), len(j.buffers), func(worker, i int) error {
		if err := j.batch.readWhole(int64(i), j.buffers[worker]); err != nil {
			return err
		}
		j.sum.Add(grid.Sum64(j.buffers[worker]))
		return nil
	})
}

// spread calls do for each of n images, from so many goroutines, which are
// numbered. It ends at an error, and returns one.
func spread(n, workers int, do func(worker, i int) error) error {
	errs := make([]error, workers)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for !failed.Load() {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if errs[w] = do(w, i); errs[w] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// summing is what inOrder takes: the images are in the page cache by then.
func summing(b *Batch) time.Duration {
	return time.Duration(int64(b.Len())*grid.TotalBytes(b.like)/int64(runtime.GOMAXPROCS(0))) * time.Nanosecond
}

// inOrder adds the words of each image one after the other, as its source gives
// them.
func inOrder(b *Batch, out uint64, _ verify.Ask[*Batch, uint64]) (*verify.Diff, error) {
	var sum atomic.Uint64
	err := spread(b.Len(), runtime.GOMAXPROCS(0), func(_, i int) error {
		s, err := b.Source(i)
		if err != nil {
			return err
		}
		defer grid.Close(s)
		f, err := grid.Load(s)
		if err != nil {
			return err
		}
		var total uint64
		for data := f.Data(); len(data) > 0; {
			var word [8]byte
			data = data[copy(word[:], data):]
			total += binary.LittleEndian.Uint64(word[:])
		}
		sum.Add(total)
		return nil
	})
	if err != nil || sum.Load() == out {
		return nil, err
	}
	return &verify.Diff{Where: "sum", Want: fmt.Sprint(sum.Load()), Got: fmt.Sprint(out)}, nil
}

func (j *readJob) Poison() {
	j.sum.Store(1<<63 | 0x5a5a5a5a)
	for _, b := range j.buffers {
		clear(b)
	}
}

func (j *readJob) Out() (uint64, error) { return j.sum.Load(), nil }

func (j *readJob) Close() error { return nil }
