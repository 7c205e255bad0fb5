package element

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"eccbench/datasets/vectors"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// A Reader returns the values lo ≤ i < hi of an image, row-major. The values are valid until
// the next call, and the caller may modify them.
type Reader func(lo, hi int64) ([]float32, error)

// chunkVoxels is the number of values per sort; a worker needs three times their bytes.
const chunkVoxels = 1 << 19

// maxChunkWorkers limits the memory of all workers together.
const maxChunkWorkers = 16

// Float32Ladder computes the ladder of a float32 image: the table of its distinct values, or for
// levels > 0 the affine ladder from the least value to the greatest. It reads the image once, in
// chunks, with several goroutines that each call newReader once. It also changes −0 to +0 in the
// chunks, and rejects NaN and ±Inf as grid.Normalise does.
func Float32Ladder(shape grid.Shape, levels int64, newReader func() Reader) (grid.Ladder, error) {
	s := &float32Survey{shape: shape, table: levels == 0, lo: math.MaxFloat32, hi: -math.MaxFloat32}
	chunks := (shape.Voxels() + chunkVoxels - 1) / chunkVoxels
	workers := min(int64(runtime.GOMAXPROCS(0)), chunks, maxChunkWorkers)
	var wg crew.Group
	for range workers {
		wg.Go(func() { s.work(newReader()) })
	}
	wg.Wait()
	switch {
	case s.err != nil:
		return grid.Ladder{}, s.err
	case s.bad != nil:
		return grid.Ladder{}, fmt.Errorf("%w; replace them by finite values, or have curve leave NaN out "+
			`(--nan mask, in Python nan="mask")`, s.bad)
	case s.table:
		return grid.Table(mergeAll(s.runs))
	}
	l, err := RangeLadder(s.lo, s.hi, levels)
	if err != nil {
		return l, LevelsError{fmt.Errorf("%d levels from %v to %v: %w; ask for fewer levels, or for the table of distinct "+
			"values", levels, s.lo, s.hi, err)}
	}
	return l, nil
}

// A float32Survey is the common result of the workers of Float32Ladder.
type float32Survey struct {
	shape grid.Shape
	table bool
	next  atomic.Int64 // first unassigned voxel

	mu     sync.Mutex
	lo, hi float32
	runs   [][]float32 // sorted distinct values
	bad    *grid.NotFiniteError
	err    error
}

func (s *float32Survey) work(read Reader) {
	n := s.shape.Voxels()
	lo, hi := float32(math.MaxFloat32), float32(-math.MaxFloat32)
	var sorter floatSorter
	var runs [][]float32
	v := vectors.ForISA(vectors.Fastest())
	for {
		to := s.next.Add(chunkVoxels)
		from := to - chunkVoxels
		if from >= n {
			break
		}
		values, err := read(from, min(to, n))
		if err == nil {
			err = grid.Normalise(values, from, s.shape)
		}
		if err != nil {
			if !s.fail(err) {
				return
			}
			continue
		}
		least, most, _ := v.Extremes(values)
		lo, hi = min(lo, least), max(hi, most)
		if s.table {
			runs = append(runs, slices.Clone(slices.Compact(sorter.sort(values))))
			// Merging runs of similar lengths keeps the work at n·log(chunks).
			for k := len(runs); k > 1 && len(runs[k-2]) <= 2*len(runs[k-1]); k = len(runs) {
				runs = append(runs[:k-2], merge(runs[k-2], runs[k-1]))
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lo, s.hi = min(s.lo, lo), max(s.hi, hi)
	s.runs = append(s.runs, runs...)
}

// fail records an error and reports whether the pass continues: NaN and ±Inf are counted up to the
// end of the image.
func (s *float32Survey) fail(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	bad := new(grid.NotFiniteError)
	if !errors.As(err, &bad) {
		if s.err == nil {
			s.err = err
		}
		s.next.Store(math.MaxInt64 / 2)
		return false
	}
	if s.bad != nil {
		first := s.bad
		if bad.First < first.First {
			first = bad
		}
		sum := *first
		sum.Count = s.bad.Count + bad.Count
		bad = &sum
	}
	s.bad = bad
	return true
}

// RangeLadder returns the affine ladder of n levels from lo. Its last level is the first one ≥ hi
// with a float64 step. An image of one value, or a request for one level, gets the one level hi.
func RangeLadder(lo, hi float32, n int64) (grid.Ladder, error) {
	if n == 1 || lo == hi {
		return grid.Affine(float64(hi), 1, 1)
	}
	step := (float64(hi) - float64(lo)) / float64(n-1)
	// The same rounding as grid.Ladder.Value; a step that is rounded down can leave the last level just
	// below hi.
	for float32(float64(lo)+float64(float64(n-1)*step)) < hi {
		step = math.Nextafter(step, math.Inf(1))
	}
	return grid.Affine(float64(lo), step, n)
}

// mergeAll returns the sorted distinct values of all runs.
func mergeAll[T cmp.Ordered](runs [][]T) []T {
	if len(runs) == 0 {
		return nil
	}
	for len(runs) > 1 {
		// The two shortest come first, to minimise the copies of each value.
		for k := range 2 {
			for i, run := range runs[k:] {
				if len(run) < len(runs[k]) {
					runs[k], runs[k+i] = run, runs[k]
				}
			}
		}
		runs = append(runs[2:], merge(runs[0], runs[1]))
	}
	return runs[0]
}

// merge returns the sorted distinct values of two such lists.
func merge[T cmp.Ordered](a, b []T) []T {
	out := make([]T, len(a)+len(b))
	i, j, k := 0, 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		out[k] = min(x, y)
		k++
		// Without branches, because random data mispredict them.
		i += asInt(x <= y)
		j += asInt(y <= x)
	}
	k += copy(out[k:], a[i:])
	k += copy(out[k:], b[j:])
	return slices.Clip(out[:k])
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A floatSorter sorts finite values without −0, by radix, and reuses its buffers.
type floatSorter struct{ a, b []float32 }

const (
	radixBits = 11
	radixSize = 1 << radixBits
)

// sort returns the values in order, and does not modify them. The result is in the sorter's memory,
// valid until the next call.
func (s *floatSorter) sort(values []float32) []float32 {
	n := len(values)
	if len(s.a) < n {
		s.a = make([]float32, n)
	}
	if n < radixSize {
		a := s.a[:n]
		copy(a, values)
		slices.Sort(a)
		return a
	}
	if len(s.b) < n {
		s.b = make([]float32, n)
	}
	var count [3][radixSize]int32
	for _, v := range values {
		k := floatKey(v)
		count[0][k%radixSize]++
		count[1][k>>radixBits%radixSize]++
		count[2][k>>(2*radixBits)]++
	}
	src, dst, spare := values, s.a[:n], s.b[:n]
	for pass := range count {
		at := &count[pass]
		sum := int32(0)
		for d, c := range at {
			at[d] = sum
			sum += c
		}
		shift := pass * radixBits
		for _, v := range src {
			d := floatKey(v) >> shift % radixSize
			dst[at[d]] = v
			at[d]++
		}
		src, dst, spare = dst, spare, dst
	}
	return src
}

// floatKey maps values to integers of the same order.
func floatKey(v float32) uint32 {
	b := math.Float32bits(v)
	return b ^ (uint32(int32(b)>>31) | 1<<31)
}
