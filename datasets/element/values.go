package element

import (
	"context"
	"errors"
	"slices"
	"sync"

	"eccbench/internal/grid"
)

// ErrManyValues is the error of an image with more distinct values than the limit.
var ErrManyValues = errors.New("more distinct values")

// distinctBytes is the approximate number of bytes that are read at a time.
const distinctBytes = 64 << 20

// DistinctValues returns the distinct values of some slices of a source, ascending, up to a limit.
// Both zeros are one value. Its memory depends on the limit, not on the image.
func DistinctValues(s grid.Source, of grid.Span, most int64, threads int) (all []float32, err error) {
	size := grid.SliceBytes(s)
	slab := grid.NewBuffer(min(max(1, distinctBytes/size), of.Len()) * size)
	seen := make([]bool, 1<<16) // by bit pattern of an integer
	for z := of.Lo; z < of.Hi; {
		hi := min(of.Hi, z+int64(len(slab))/size)
		part := slab[:(hi-z)*size]
		if err := s.ReadSlab(part, z, hi); err != nil {
			return nil, err
		}
		switch s.Type() {
		case grid.Uint8:
			for _, v := range part {
				seen[v] = true
			}
		case grid.Float32:
			values := grid.Values[float32](part)
			if err := grid.Normalise(values, z*s.Shape().SliceVoxels(), s.Shape()); err != nil {
				return nil, err
			}
			all = mergeAll(append(distinctRuns(Cores{context.Background(), threads}, values), all))
		default:
			for _, v := range grid.Values[uint16](part) {
				seen[v] = true
			}
		}
		if int64(len(all)) > most {
			return nil, ErrManyValues
		}
		z = hi
	}
	for pattern, is := range seen {
		if is && s.Type() == grid.Int16 {
			all = append(all, float32(int16(pattern)))
		} else if is {
			all = append(all, float32(pattern))
		}
	}
	slices.Sort(all)
	if int64(len(all)) > most {
		return nil, ErrManyValues
	}
	return all, nil
}

// distinctRuns returns the distinct values of chunks, each list ascending.
func distinctRuns(h Cores, values []float32) (runs [][]float32) {
	var mu sync.Mutex
	chunks := (int64(len(values)) + chunkVoxels - 1) / chunkVoxels
	Cores{h.ctx, min(h.cores, maxChunkWorkers)}.share(chunks, func(next func() (int64, bool)) {
		var sorter floatSorter
		for k, ok := next(); ok; k, ok = next() {
			sorted := sorter.sort(values[k*chunkVoxels : min((k+1)*chunkVoxels, int64(len(values)))])
			run := slices.Clone(slices.Compact(sorted))
			mu.Lock()
			runs = append(runs, run)
			mu.Unlock()
		}
	})
	return runs
}

// MergeValues returns the distinct values of several ascending lists.
func MergeValues(lists [][]float32) []float32 { return mergeAll(slices.Clone(lists)) }
