package element

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// Narrow converts voxels of a type without kernels to float32. If float32 represents each voxel
// exactly, it copies them. Otherwise it returns their ranks among the distinct values, with the
// values as labels. Scaled voxels are first computed as float64(stored·slope + inter). NaN is kept.
// So are infinities, which later checks reject, in place of ranks.
func Narrow(h Cores, data []byte, s Type, scaled bool, slope, inter float64, ranks Ranks) ([]byte, *grid.Labels,
	error) {
	if scaled {
		return Narrowed(h, Rescaled(data, s, slope, inter), Float64, ranks, ExactFloat)
	}
	switch s {
	case Float16:
		halves := grid.Values[uint16](data)
		out := grid.NewBuffer(4 * int64(len(halves)))
		values := grid.Values[float32](out)
		h.inParts(len(halves), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				values[i] = Half(halves[i])
			}
		})
		return out, nil, h.ctx.Err()
	case Int32:
		return Narrowed(h, grid.Values[int32](data), s, ranks,
			func(v int32) bool { return exactInteger(magnitude(int64(v))) })
	case Uint32:
		return Narrowed(h, grid.Values[uint32](data), s, ranks, func(v uint32) bool { return exactInteger(uint64(v)) })
	case Int64:
		return Narrowed(h, grid.Values[int64](data), s, ranks, func(v int64) bool { return exactInteger(magnitude(v)) })
	case Uint64:
		return Narrowed(h, grid.Values[uint64](data), s, ranks, exactInteger)
	}
	return Narrowed(h, grid.Values[float64](data), s, ranks, ExactFloat)
}

// ErrRanks is the error of values that float32 cannot represent, if ranks are refused.
var ErrRanks = errors.New("float32 does not hold all values")

type wide interface {
	int32 | uint32 | int64 | uint64 | float64
}

// Narrowed is Narrow of values, which it may overwrite.
func Narrowed[T wide](h Cores, values []T, s Type, r Ranks, exact func(T) bool) ([]byte, *grid.Labels, error) {
	out := grid.NewBuffer(4 * int64(len(values)))
	dst := grid.Values[float32](out)
	var inexact, infinite atomic.Bool
	h.inParts(len(values), func(lo, hi int) {
		holds, finite := true, true
		for i, v := range values[lo:hi] {
			d := float32(v)
			holds = holds && exact(v)
			if d-d != 0 {
				if v-v == 0 {
					d = 0 // finite in T; the ranks replace it
				} else if v == v {
					finite = false
				}
			}
			dst[lo+i] = d
		}
		if !holds {
			inexact.Store(true)
		}
		if !finite {
			infinite.Store(true)
		}
	})
	if err := h.ctx.Err(); err != nil || !inexact.Load() || infinite.Load() {
		return out, nil, err
	}
	if r.Refused {
		return nil, nil, ErrRanks
	}
	if labels, err := rankAmong(h, dst, values, s, r); err != nil || labels != nil {
		return out, labels, cmp.Or(err, h.ctx.Err())
	}
	ranks := grid.Values[uint32](out)
	distinct := rank(h, values, ranks)
	if err := h.ctx.Err(); err != nil {
		return nil, nil, err
	}
	for i := range distinct {
		distinct[i] += 0 // −0 is 0
	}
	labels, err := grid.NewLabels(s.String(), distinct)
	if err != nil {
		return nil, nil, err
	}
	h.inParts(len(values), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if v := values[i]; v == v {
				dst[i] = grid.Ranked(int(ranks[i]))
			} else {
				dst[i] = float32(v)
			}
		}
	})
	return out, labels, h.ctx.Err()
}

// rank computes the rank of each value among the distinct ones, which it returns in ascending
// order. NaN has no rank. A table has the values of a chunk if they are few. Other chunks are sorted separately, with
// the places of their values. Their distinct values are merged, and each sorted chunk is matched with
// those in one pass. The result is undefined after the context has ended.
func rank[T wide](h Cores, values []T, ranks []uint32) []T {
	chunks := (len(values) + chunkVoxels - 1) / chunkVoxels
	runs, tables := make([][]T, chunks), make([][]T, chunks)
	each := func(f func(chunk int64, values []T, places []uint32)) {
		Cores{h.ctx, min(h.cores, maxChunkWorkers)}.share(int64(chunks), func(next func() (int64, bool)) {
			for k, ok := next(); ok; k, ok = next() {
				lo, hi := k*chunkVoxels, min((k+1)*chunkVoxels, int64(len(values)))
				f(k, values[lo:hi], ranks[lo:hi])
			}
		})
	}
	each(func(k int64, values []T, places []uint32) {
		if few, ok := number(values, places); ok {
			tables[k] = few
			runs[k] = slices.Clone(few)
			slices.Sort(runs[k])
			return
		}
		runs[k] = order(values, places)
	})
	if h.ctx.Err() != nil {
		return nil
	}
	distinct := mergeAll(runs)
	each(func(k int64, values []T, ranks []uint32) {
		if tables[k] != nil {
			of := make([]uint32, len(tables[k]))
			for n, v := range tables[k] {
				at, _ := slices.BinarySearch(distinct, v)
				of[n] = uint32(at)
			}
			for i, v := range values {
				if v == v {
					ranks[i] = of[ranks[i]]
				}
			}
			return
		}
		places := slices.Clone(ranks)
		at := 0
		for _, place := range places {
			v := values[place]
			step := 1
			for at+step < len(distinct) && distinct[at+step] <= v {
				at += step
				step *= 2
			}
			for ; step > 0; step /= 2 {
				if at+step < len(distinct) && distinct[at+step] <= v {
					at += step
				}
			}
			ranks[place] = uint32(at)
		}
	})
	return distinct
}

// order sorts values with their places by radix, and returns the distinct ones. NaN is at either end.
func order[T wide](values []T, places []uint32) []T {
	sorted, spare := make([]placed, len(values)), make([]placed, len(values))
	var differing uint64 // bits
	for i, v := range values {
		sorted[i] = placed{orderKey(v), uint32(i)}
		differing |= sorted[i].key ^ sorted[0].key
	}
	for shift := 0; differing>>shift != 0; shift += radixBits {
		if differing>>shift%radixSize == 0 {
			continue
		}
		var at [radixSize]int32
		for _, p := range sorted {
			at[p.key>>shift%radixSize]++
		}
		sum := int32(0)
		for d, n := range at {
			at[d] = sum
			sum += n
		}
		for _, p := range sorted {
			d := p.key >> shift % radixSize
			spare[at[d]] = p
			at[d]++
		}
		sorted, spare = spare, sorted
	}
	run := make([]T, 0, len(values))
	for i, p := range sorted {
		places[i] = p.place
		if v := values[p.place]; v == v && (len(run) == 0 || run[len(run)-1] != v) {
			run = append(run, v)
		}
	}
	return slices.Clone(run)
}

// A placed value has its index in the chunk, and an integer of the same order.
type placed struct {
	key   uint64
	place uint32
}

// orderKey maps values to integers of the same order, except that −0 is before 0.
func orderKey[T wide](v T) uint64 {
	const sign = 1 << 63
	switch v := any(v).(type) {
	case float64:
		b := math.Float64bits(v)
		return b ^ (uint64(int64(b)>>63) | sign)
	case int32:
		return uint64(v) ^ sign
	case int64:
		return uint64(v) ^ sign
	}
	return uint64(v)
}

// valueOf returns the value of an orderKey.
func valueOf[T wide](key uint64) (v T) {
	const sign = 1 << 63
	switch p := any(&v).(type) {
	case *float64:
		*p = math.Float64frombits(key ^ (uint64(^int64(key)>>63) | sign))
	case *int32:
		*p = int32(key ^ sign)
	case *int64:
		*p = int64(key ^ sign)
	case *uint32:
		*p = uint32(key)
	case *uint64:
		*p = key
	}
	return v
}

// Sizes of a table: its values, and the binary logarithm of its places.
const fewValues, tableBits = 1 << 12, 14

// number numbers the distinct values in the order of their occurrence, unless there are more than fewValues. NaN has
// no number.
func number[T wide](values []T, numbers []uint32) (distinct []T, ok bool) {
	var table [1 << tableBits]uint16 // 1 + the number of a value
	distinct = make([]T, 0, 1<<8)
	for i, v := range values {
		if v += 0; v != v { // −0 is 0
			continue
		}
		key := uint64(*(*uint32)(unsafe.Pointer(&v)))
		if unsafe.Sizeof(v) == 8 {
			key = *(*uint64)(unsafe.Pointer(&v))
		}
		at := key * 0x9e3779b97f4a7c15 >> (64 - tableBits)
		for table[at] > 0 && distinct[table[at]-1] != v {
			at = (at + 1) & (1<<tableBits - 1)
		}
		if table[at] == 0 {
			if len(distinct) == fewValues {
				return nil, false
			}
			distinct = append(distinct, v)
			table[at] = uint16(len(distinct))
		}
		numbers[i] = uint32(table[at] - 1)
	}
	return distinct, true
}

// exactInteger reports whether float32 represents a whole number: its set bits must span at most 24
// bits.
func exactInteger(v uint64) bool { return bits.Len64(v)-bits.TrailingZeros64(v) <= 24 }

// magnitude is the absolute value. It is right for the least number, too, whose negation overflows.
func magnitude(v int64) uint64 { return uint64(max(v, -v)) }

// ExactFloat reports whether float32 represents a number; it is true for NaN.
func ExactFloat(v float64) bool { return float64(float32(v)) == v || v != v }

// Half returns the value of a float16 (IEEE 754 binary16).
func Half(h uint16) float32 {
	sign, exponent, fraction := uint32(h)>>15<<31, uint32(h)>>10&31, uint32(h)&1023
	switch exponent {
	case 0:
		return math.Float32frombits(sign) + float32(int32(1)-int32(sign>>30))*float32(fraction)*(1.0/(1<<24))
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// Rescaled returns float64(stored·slope + inter). Int8 has been widened.
func Rescaled(data []byte, s Type, slope, inter float64) []float64 {
	switch s {
	case Uint8:
		return scaledBy(data, slope, inter)
	case Int8, Int16:
		return scaledBy(grid.Values[int16](data), slope, inter)
	case Uint16:
		return scaledBy(grid.Values[uint16](data), slope, inter)
	case Float16:
		halves := grid.Values[uint16](data)
		values := make([]float32, len(halves))
		for i, h := range halves {
			values[i] = Half(h)
		}
		return scaledBy(values, slope, inter)
	case Float32:
		return scaledBy(grid.Values[float32](data), slope, inter)
	case Int32:
		return scaledBy(grid.Values[int32](data), slope, inter)
	case Uint32:
		return scaledBy(grid.Values[uint32](data), slope, inter)
	case Int64:
		return scaledBy(grid.Values[int64](data), slope, inter)
	case Uint64:
		return scaledBy(grid.Values[uint64](data), slope, inter)
	}
	return scaledBy(grid.Values[float64](data), slope, inter)
}

func scaledBy[T grid.Stored](values []T, slope, inter float64) []float64 {
	out := make([]float64, len(values))
	AllCores().inParts(len(out), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			// The conversion keeps the compiler from fusing the two operations.
			out[i] = float64(float64(values[i])*slope) + inter
		}
	})
	return out
}

// Cores is a number of cores, which start no more tasks after a context has ended.
type Cores struct {
	ctx   context.Context
	cores int
}

// AllCores returns all cores, without a deadline.
func AllCores() Cores { return Cores{context.Background(), runtime.GOMAXPROCS(0)} }

// share is crew.ShareAmong on the cores.
func (h Cores) share(tasks int64, worker func(next func() (task int64, ok bool))) {
	crew.ShareAmong(int64(h.cores), tasks, func(next func() (int64, bool)) {
		worker(func() (int64, bool) {
			task, ok := next()
			return task, ok && h.ctx.Err() == nil
		})
	})
}

// inParts calls f with parts of n elements, on the cores at the same time.
func (h Cores) inParts(n int, f func(lo, hi int)) {
	const part = 1 << 16
	h.share(int64(n+part-1)/part, func(next func() (int64, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			f(int(k)*part, min((int(k)+1)*part, n))
		}
	})
}
