package element

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"eccbench/internal/grid"
)

// Ranks describe the representation of values that float32 does not hold. The zero value ranks them
// among all distinct values of the image.
type Ranks struct {
	Refused bool // such values are ErrRanks
	// At returns the thresholds of the sets that are counted, for an image whose least and greatest
	// value are the first and the last label. Values are then ranked among the thresholds alone,
	// without sorting. No thresholds, or more than grid.MaxRanks, mean all distinct values.
	At         func(ends *grid.Labels) []grid.Number
	Superlevel bool // a set has the values at or above its threshold
	// Hashed adds a digest of values to the labels of thresholds: "sha256:" and the SHA-256 of their
	// bytes, little-endian, in hexadecimal.
	Hashed bool
}

// thresholds returns the thresholds in the type of the values, distinct and ascending, or nil for
// all distinct values. Sets without a voxel have none. least and greatest are those of the image.
func thresholds[T wide](r Ranks, s Type, least, greatest T) ([]T, error) {
	ends, err := grid.NewLabels(s.String(), []T{least, greatest})
	if err != nil || r.At == nil {
		return nil, err
	}
	numbers := r.At(ends)
	if len(numbers) == 0 || len(numbers) > grid.MaxRanks {
		return nil, nil
	}
	one := make([]T, 1)
	label, err := grid.NewLabels(s.String(), one)
	if err != nil {
		return nil, err
	}
	at := make([]T, 0, len(numbers))
	for _, n := range numbers {
		isBeyond := func(key uint64) bool {
			one[0] = valueOf[T](key)
			c := label.Compare(grid.Ranked(0), n)
			return c > 0 || r.Superlevel && c == 0
		}
		first, hi := orderKey(least), orderKey(greatest)
		switch {
		case r.Superlevel && !isBeyond(hi), !r.Superlevel && isBeyond(first): // an empty set
			continue
		case !isBeyond(hi):
			at = append(at, greatest)
			continue
		}
		for first < hi {
			if middle := first + (hi-first)/2; isBeyond(middle) {
				hi = middle
			} else {
				first = middle + 1
			}
		}
		if !r.Superlevel {
			first--
		}
		at = append(at, valueOf[T](first)+0) // −0 is 0
	}
	if len(at) == 0 {
		at = append(at, least+0)
	}
	slices.Sort(at)
	return slices.Compact(at), nil
}

// rankAmong writes the ranks of values among the thresholds of r, and returns the labels of the
// ranks. NaN keeps its place. Nil labels mean that r wants the ranks among all distinct values.
func rankAmong[T wide](h Cores, dst []float32, values []T, s Type, r Ranks) (*grid.Labels, error) {
	least, greatest := ends(h, values)
	at, err := thresholds(r, s, least, greatest)
	if err != nil || at == nil || h.ctx.Err() != nil {
		return nil, err
	}
	k := grid.NewRanking(at, r.Superlevel)
	outside := greatest
	if r.Superlevel {
		outside = least
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(at), outside+0))))
	var hash sync.WaitGroup
	digest := ""
	if r.Hashed { // on one core, while others rank
		hash.Go(func() { digest = fmt.Sprintf("sha256:%x", sha256.Sum256(grid.Bytes(values))) })
	}
	var wrong atomic.Bool
	h.inParts(len(values), func(lo, hi int) {
		ranks := make([]byte, hi-lo)
		for lo < hi {
			n := slices.IndexFunc(values[lo:hi], func(v T) bool { return v != v })
			if n < 0 {
				n = hi - lo
			}
			some := values[lo : lo+n]
			k.Rank(ranks[:n], some)
			if k.Confirm(ranks[:n], some) != nil {
				wrong.Store(true)
			}
			for i, rank := range ranks[:n] {
				if r.Superlevel {
					rank = byte(len(distinct)-1) - rank
				}
				dst[lo+i] = grid.Ranked(int(rank))
			}
			lo += n + 1
		}
	})
	hash.Wait()
	if wrong.Load() {
		return nil, grid.ErrRanks
	}
	labels, err := grid.NewLabels(s.String(), distinct)
	if err != nil {
		return nil, err
	}
	return labels.WithDigest(digest), nil
}

// ends returns the least and the greatest of values that are not all NaN.
func ends[T wide](h Cores, values []T) (least, greatest T) {
	var mu sync.Mutex
	known := false
	h.inParts(len(values), func(from, to int) {
		some := values[from:to]
		first := slices.IndexFunc(some, func(v T) bool { return v == v })
		if first < 0 {
			return
		}
		lo, hi := some[first], some[first]
		for _, v := range some[first:] {
			if v < lo { // false for NaN
				lo = v
			}
			if v > hi {
				hi = v
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if !known {
			least, greatest, known = lo, hi, true
		}
		least, greatest = min(least, lo), max(greatest, hi)
	})
	return least, greatest
}
