package grid

import (
	"errors"
	"math"
	"slices"
)

// MaxRanks is the greatest number of values whose ranks fit one byte.
const MaxRanks = math.MaxUint8

// A Scalar is an element type of arrays in memory.
type Scalar interface {
	uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// A Ranking replaces values by ranks: the number of given values below a value, or above it for
// superlevel sets. Each set then has the ranks up to a limit.
type Ranking[T Scalar] struct {
	at           []T
	super        bool
	first, scale float64
	start        [ranges + 1]uint8   // start[i] is the number of at in ranges below i
	rank         [MaxRanks + 1]uint8 // rank[r] is the rank of a voxel above r of at
	least, most  [MaxRanks + 1]T     // of the values of each rank
	bytes        []uint8             // the ranks of all values of uint8, or nil
}

// ranges is about the number of entries that fit into a core's L1 cache together with the values.
const ranges = 2048

// NewRanking returns the ranking by some values, ascending.
func NewRanking[T Scalar](at []T, super bool) *Ranking[T] {
	least, most, step := limits[T]()
	k := &Ranking[T]{at: at, super: super, first: float64(at[0])}
	m := len(at)
	if k.scale = (ranges - 1) / (float64(at[m-1]) - k.first); math.IsInf(k.scale, 0) || math.IsNaN(k.scale) {
		k.scale = 0
	}
	for i, next := 0, 0; i < len(k.start); i++ {
		for next < m && k.rangeOf(at[next]) < i {
			next++
		}
		k.start[i] = uint8(next)
	}
	for r := range m + 1 {
		lo, hi := least, most
		if r > 0 {
			lo = at[r-1]
		}
		if r < m {
			hi = at[r]
		}
		rank := r
		if super {
			rank = m - r
		}
		switch {
		case super && r < m && hi == least, !super && r > 0 && lo == most:
			lo, hi = most, least // no value has the rank
		case super && r < m:
			hi = next(hi, least, -step)
		case !super && r > 0:
			lo = next(lo, most, step)
		}
		k.rank[r], k.least[rank], k.most[rank] = uint8(rank), lo, hi
	}
	if all, ok := any(make([]T, math.MaxUint8+1)).([]uint8); ok {
		for v := range all {
			all[v] = uint8(v)
		}
		ranks := make([]uint8, len(all))
		k.Rank(ranks, any(all).([]T))
		k.bytes = ranks
	}
	return k
}

// limits returns the least and the greatest finite value of a type, and the distance of neighbouring
// values, 0 for floats.
func limits[T Scalar]() (least, most, step T) {
	var list any
	switch any(least).(type) {
	case uint8:
		list = [3]uint8{0, math.MaxUint8, 1}
	case int16:
		list = [3]int16{math.MinInt16, math.MaxInt16, 1}
	case uint16:
		list = [3]uint16{0, math.MaxUint16, 1}
	case int32:
		list = [3]int32{math.MinInt32, math.MaxInt32, 1}
	case uint32:
		list = [3]uint32{0, math.MaxUint32, 1}
	case int64:
		list = [3]int64{math.MinInt64, math.MaxInt64, 1}
	case uint64:
		list = [3]uint64{0, math.MaxUint64, 1}
	case float32:
		list = [3]float32{-math.MaxFloat32, math.MaxFloat32}
	case float64:
		list = [3]float64{-math.MaxFloat64, math.MaxFloat64}
	}
	values := list.([3]T)
	return values[0], values[1], values[2]
}

// next returns the neighbouring value in the direction of a limit.
func next[T Scalar](v, limit, step T) T {
	switch x := any(v).(type) {
	case float32:
		return T(math.Nextafter32(x, float32(limit)*2))
	case float64:
		return T(math.Nextafter(x, float64(limit)*2))
	}
	return v + step
}

// rangeOf returns the range of a value. It never decreases as the value grows.
func (k *Ranking[T]) rangeOf(v T) int { return int((float64(v) - k.first) * k.scale) }

// ErrRanks is the error of a voxel with a wrong rank.
var ErrRanks = errors.New("a voxel has a wrong rank among the values that were asked for")

// Rank writes the ranks of some values. The rank of a NaN is arbitrary.
func (k *Ranking[T]) Rank(ranks []byte, values []T) {
	at, m := k.at, len(k.at)
	first, last := at[0], at[m-1]
	if k.bytes != nil {
		for i, v := range any(values).([]uint8) {
			ranks[i] = k.bytes[v]
		}
		return
	}
	if m <= fewSets || k.scale == 0 { // without a scale for infinite values, for instance
		k.compared(ranks, values)
		return
	}
	for i, v := range values {
		r := 0
		switch {
		case !(v >= first):
		case v > last:
			r = m
		default:
			r = int(k.start[k.rangeOf(v)])
			for r < m && at[r] < v {
				r++
			}
			for k.super && r < m && at[r] == v {
				r++
			}
		}
		ranks[i] = k.rank[r]
	}
}

// fewSets is the number of sets up to which comparison with each is faster than a table of ranges.
const fewSets = 4

// compared is Rank by a comparison with each set, without data-dependent branches. Pairs of sets
// need one pass.
func (k *Ranking[T]) compared(ranks []byte, values []T) {
	ranks = ranks[:len(values)]
	clear(ranks)
	at := k.at
	for ; !k.super && len(at) >= 2; at = at[2:] {
		t, u := at[0], at[1]
		for i, v := range values {
			a, b := byte(0), byte(0)
			if v > t {
				a = 1
			}
			if v > u {
				b = 1
			}
			ranks[i] += a + b
		}
	}
	for _, t := range at {
		if k.super {
			for i, v := range values {
				b := byte(0)
				if v < t {
					b = 1
				}
				ranks[i] += b
			}
			continue
		}
		for i, v := range values {
			b := byte(0)
			if v > t {
				b = 1
			}
			ranks[i] += b
		}
	}
}

// Confirm returns an error unless each value is within the limits of its rank.
func (k *Ranking[T]) Confirm(ranks []byte, values []T) error {
	bad := false
	ranks = ranks[:len(values)]
	for i, v := range values {
		r := ranks[i]
		if v < k.least[r] || v > k.most[r] || v != v { // faster than an expression
			bad = true
		}
	}
	switch {
	case !bad:
		return nil
	case slices.ContainsFunc(values, func(v T) bool { return v-v != 0 }):
		return &NotFiniteError{}
	}
	return ErrRanks
}
