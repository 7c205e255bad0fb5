// Package memread reads an image and does nothing else, on the host or on a
// device: the ceiling of every implementation that has to look at each byte once. It is a workload of its
// own, whose answer is the sum of the image's bytes taken as 64-bit words.
package memread

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
	"eccbench/internal/resident"
	"eccbench/internal/verify"
)

// Name is the name of the workload and of its implementation on the host.
const Name = "memread"

// Workload is the question: what is the sum of the image's bytes?
func Workload(open resident.Opener) bench.Workload[grid.Source, uint64] {
	return bench.Workload[grid.Source, uint64]{
		Name:   Name,
		Inputs: fields.Inputs{},
		Impls:  []bench.Implementation[grid.Source, uint64]{Implementation{}, OnDevice{open}, OnDevices{open}, ToDevice{open}},
		Policy: verify.Policy[grid.Source, uint64]{
			Agree: func(_ grid.Source, want, got uint64) *verify.Diff {
				if want == got {
					return nil
				}
				return &verify.Diff{Where: "sum", Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
			},
			Laws: []verify.Law[grid.Source, uint64]{{Name: "sum in order", Independent: true, Check: inOrder}},
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

// inOrder adds the words of each slice one after the other, on all cores.
func inOrder(in grid.Source, out uint64, _ verify.Ask[grid.Source, uint64]) (*verify.Diff, error) {
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
	sum := total.Load()
	if err != nil || sum == out {
		return nil, err
	}
	return &verify.Diff{Where: "sum", Want: fmt.Sprint(sum), Got: fmt.Sprint(out)}, nil
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

// Implementation reads with all cores.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name:   Name,
		Where:  "cpu",
		Method: "reads every byte of the image once, all cores: the ceiling",
		Source: "STREAM-like read, one accumulator for each of eight words",
		Scopes: []bench.Scope{bench.E2E, bench.File},
	}
}

// CanDo accepts every image.
func (Implementation) CanDo(grid.Source, bench.Conditions) error { return nil }

// Setup shares the slices out among the cores.
func (Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[uint64], error) {
	n := in.Shape().Slices()
	j := &job{in: in, threads: max(1, min(int64(c.Threads), n)), size: grid.SliceBytes(in)}
	j.chunk = max(1, min((n+j.threads*4-1)/(j.threads*4), (32<<20)/j.size))
	if f, ok := in.(*grid.Field); ok {
		j.resident = f.Data()
		return j, nil
	}
	for range j.threads {
		j.slabs = append(j.slabs, grid.NewBuffer(j.chunk*j.size))
	}
	return j, nil
}

type job struct {
	in       grid.Source
	threads  int64
	chunk    int64
	size     int64
	resident []byte
	slabs    [][]byte
	sum      atomic.Uint64
}

func (j *job) Do(trace *bench.Trace) error {
	defer trace.Span("read")()
	j.sum.Store(0)
	n := j.in.Shape().Slices()
	var next atomic.Int64
	errs := make([]error, j.threads)
	var wg sync.WaitGroup
	for t := range j.threads {
		wg.Go(func() {
			for errs[t] == nil {
				lo := (next.Add(1) - 1) * j.chunk
				if lo >= n {
					return
				}
				errs[t] = j.read(t, lo, min(lo+j.chunk, n))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (j *job) read(t, lo, hi int64) error {
	var slab []byte
	if j.resident != nil {
		slab = j.resident[lo*j.size : hi*j.size]
	} else {
		slab = j.slabs[t][:(hi-lo)*j.size]
		if err := j.in.ReadSlab(slab, lo, hi); err != nil {
			return err
		}
	}
	var total uint64
	if j.size%8 == 0 {
		total = grid.Sum64(slab)
	} else {
		for ; len(slab) > 0; slab = slab[j.size:] {
			total += grid.Sum64(slab[:j.size])
		}
	}
	j.sum.Add(total)
	return nil
}

func (j *job) Poison() { j.sum.Store(1<<63 | 0x5a5a5a5a) }

func (j *job) Out() (uint64, error) { return j.sum.Load(), nil }

func (j *job) Close() error { return nil }
