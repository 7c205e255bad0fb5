// Package read defines the question of the sum of an image's bytes as 64-bit words, which needs
// exactly one read of each byte. Its implementations are the ceilings of the others.
package read

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
)

// Name is the name of the workload in records, and of its implementation on the host.
const Name = "memread"

// Workload is the question, put to implementations.
func Workload(impls ...bench.Implementation[grid.Source, uint64]) bench.Workload[grid.Source, uint64] {
	return bench.Workload[grid.Source, uint64]{
		Name: Name,
		Question: bench.Question{
			Doc: "the sum of an image's bytes as 64-bit words: the ceiling",
			Adversarial: []string{
				"noise/shape=1x1/type=uint8", "noise/shape=37x1/type=int16", "noise/shape=1x37/type=uint8", "noise/shape=5x5x2/type=uint8",
				"noise/shape=7x5x3/type=uint8", "noise/shape=3x3x5/type=int16", "noise/shape=32x16x17/type=float32", "noise/shape=1023x513/type=uint8",
			},
			Small: []string{"noise/shape=256x256x256/levels=1024/type=float32/seed=1"},
		},
		Inputs: fields.Inputs{},
		Impls:  impls,
		Policy: verify.Policy[grid.Source, uint64]{
			Agree: Agree[grid.Source],
			Laws:  []verify.Law[grid.Source, uint64]{{Name: "sum in order", Independent: true, Check: checkOrder}},
		},
		Encode: bench.Small(Encode),
		Decode: Decode,
	}
}

// Agree compares two sums.
func Agree[In any](_ In, want, got uint64) *verify.Diff {
	if want == got {
		return nil
	}
	return &verify.Diff{Where: "sum", Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
}

// Encode writes a sum.
func Encode(sum uint64) []byte { return binary.LittleEndian.AppendUint64(nil, sum) }

// Decode is the inverse of Encode.
func Decode(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, errors.New("malformed sum")
	}
	return binary.LittleEndian.Uint64(b), nil
}

// checkOrder adds the words of each slice in order, on all cores. Of a periodic image it reads little
// more than a period.
func checkOrder(in grid.Source, out uint64, _ verify.Ask[grid.Source, uint64]) (*verify.Diff, error) {
	sum, err := views.OverPeriods(in, sumInOrder,
		func(sum *uint64, said uint64, times int64) { *sum += uint64(times) * said })
	if err != nil || sum == out {
		return nil, err
	}
	return &verify.Diff{Where: "sum", Want: fmt.Sprint(sum), Got: fmt.Sprint(out)}, nil
}

func sumInOrder(in grid.Source) (uint64, error) {
	var total atomic.Uint64
	size := grid.SliceBytes(in)
	err := grid.EachSlab(in, func(slab []byte, lo, hi int64) error {
		cores := min(int64(runtime.GOMAXPROCS(0)), hi-lo)
		var wg sync.WaitGroup
		for c := range cores {
			wg.Go(func() {
				var sum uint64
				for i := (hi - lo) * c / cores; i < (hi-lo)*(c+1)/cores; i++ {
					sum += addWords(slab[i*size : (i+1)*size])
				}
				total.Add(sum)
			})
		}
		wg.Wait()
		return nil
	})
	return total.Load(), err
}

// addWords is the sum of the 64-bit words of b, the last one filled up with zeros.
func addWords(b []byte) (sum uint64) {
	for ; len(b) >= 8; b = b[8:] {
		sum += binary.LittleEndian.Uint64(b)
	}
	var word [8]byte
	copy(word[:], b)
	return sum + binary.LittleEndian.Uint64(word[:])
}
