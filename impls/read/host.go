// Package read implements internal/workloads/read on the host and on devices: it reads an image and
// does nothing else.
package read

import (
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/read"
)

// All returns every implementation; those on devices open them by open.
func All(open resident.Opener) []bench.Implementation[grid.Source, uint64] {
	return []bench.Implementation[grid.Source, uint64]{OnHost{}, OnDevice{open}, OnDevices{open}, ToDevice{Open: open}}
}

// OnHost reads with all cores.
type OnHost struct{}

// About describes the method.
func (OnHost) About() bench.About {
	return bench.OnHost(read.Name, "reads every byte of the image once, all cores: the ceiling",
		"STREAM-like read, one accumulator for each of eight words")
}

// CanDo rejects images with slices so large that a few do not fit in memory.
func (OnHost) CanDo(in grid.Source, c bench.Conditions) error {
	j := share(in, c.Threads)
	if j.resident != nil {
		return nil
	}
	return c.AllowMemory(j.threads*j.chunk*j.size, "%d cores × %d slices of %s", j.threads, j.chunk,
		quantity.Bytes(j.size))
}

// Setup shares the slices out among the cores.
func (OnHost) Setup(in grid.Source, c bench.Conditions) (bench.Job[uint64], error) {
	j := share(in, c.Threads)
	if j.resident == nil {
		for range j.threads {
			j.slabs = append(j.slabs, grid.NewBuffer(j.chunk*j.size))
		}
	}
	return j, nil
}

// share divides the slices of an image among cores.
func share(in grid.Source, threads int) *job {
	n := in.Shape().Slices()
	j := &job{in: in, threads: max(1, min(int64(threads), n)), size: grid.SliceBytes(in)}
	j.chunk = max(1, min((n+j.threads*4-1)/(j.threads*4), (32<<20)/j.size))
	if f, ok := in.(*grid.Field); ok {
		j.resident = f.Data()
	}
	return j
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
	return crew.Try(int(j.threads), int(grid.CeilDiv(n, j.chunk)), func(t, k int) error {
		lo := int64(k) * j.chunk
		return j.read(int64(t), lo, min(lo+j.chunk, n))
	})
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
