package batch

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/read"
)

// Reading is the name of the workload that reads a batch and does nothing else: the
// ceiling of every implementation of Workload.
const Reading = "memread-batch"

// ReadingWorkload asks for the sum of the bytes of all images. Each image is taken as 64-bit words,
// the last one filled with zeros.
func ReadingWorkload(impls ...bench.Implementation[*Batch, uint64]) bench.Workload[*Batch, uint64] {
	return bench.Workload[*Batch, uint64]{
		Name: Reading, Question: bench.Question{
			Doc: "the sum of the bytes of many images: the ceiling of batches of files", Form: Form(),
			Adversarial: Question().Adversarial, Small: Question().Small,
		},
		Inputs: Inputs{}, Impls: impls, Encode: bench.Small(read.Encode), Decode: read.Decode,
		Policy: verify.Policy[*Batch, uint64]{
			Agree: read.Agree[*Batch],
			Laws: []verify.Law[*Batch, uint64]{{Name: "sum of each image in order", Independent: true, Work: summing,
				Check: checkOrder}},
		},
	}
}

// Spread calls do for each of n images, on numbered goroutines (crew.Try).
func Spread(n, workers int, do func(worker, i int) error) error { return crew.Try(workers, n, do) }

// summing estimates the time of checkOrder; the images are in the page cache by then.
func summing(b *Batch) time.Duration {
	return time.Duration(int64(b.Len())*grid.TotalBytes(b.like)/int64(runtime.GOMAXPROCS(0))) * time.Nanosecond
}

// checkOrder adds the words of each image one after the other, as its source gives
// them.
func checkOrder(b *Batch, out uint64, _ verify.Ask[*Batch, uint64]) (*verify.Diff, error) {
	var sum atomic.Uint64
	err := Spread(b.Len(), runtime.GOMAXPROCS(0), func(_, i int) error {
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
