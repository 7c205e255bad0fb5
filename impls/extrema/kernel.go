package extrema

import "sync/atomic"

// A lane is the type of a level. A change has the same width.
type (
	lane   interface{ uint8 | uint16 | uint32 }
	change interface{ int8 | int16 | int32 }
)

// A tile is a strip of one plane, or of two adjacent planes, in levels. Rows are stride lanes
// apart, and voxel x of a row is lane lead/size+x. The outside of the image has the pad's level. It
// consists of a row before and after the strip, and a vector before each row. After each row it has
// the rest of its last vector and one more vector.
type tile[L lane, C change] struct {
	below, above []L // (rows+2)·stride lanes and a vector; above is nil in 2D
	// owed are the changes that the plane before passed on to the plane below, rows·stride lanes
	// and a vector. The kernel replaces them by the changes for the plane above.
	owed          []C
	rows          int
	width, stride int
	first         bool   // the row before the strip is outside the image
	outside       bool   // the plane below is outside the image
	ahead         []byte // values to prefetch
}

// kernels are the functions of an instruction set for one lane width.
type kernels[L lane, C change] struct {
	// volume adds the changes of the plane below to the sink; area adds the changes of a 2D image.
	volume, area func(*tile[L, C], *sink[L, C])
	// scatter adds changes[i] to entry values[i] of a table. Successive additions use different
	// tables, each of the given number of entries.
	scatter func(tables []int32, entries int, values []L, changes []C)
	// rows returns the conversion of values to levels, or nil to use the portable one.
	rows func(*levels[L]) rowsFunc[L]
}

// A rowsFunc converts rows of n values, contiguous in src, to levels. Rows of dst are stride lanes
// apart. scratch has room for n levels.
type rowsFunc[L lane] func(dst []L, src []byte, n, rows, stride int, scratch []int32)

// A sink adds changes to a core's tables, to the shared table, or to a tally.
type sink[L lane, C change] struct {
	values  []L // levels of changes that were found but not added yet
	changes []C
	handed  [2][]int32 // passed from row to row by the portable kernels
	discard bool       // add nothing: the voxels belong to another core

	scatter func(tables []int32, entries int, values []L, changes []C)
	tables  []int32
	entries int
	shared  []int64
	tally   *tally // replaces both tables if there are too many levels
	levels  int64  // number of levels of the ladder
}

// add adds the first n changes that were found.
func (s *sink[L, C]) add(n int) {
	values, changes := s.values[:n], s.changes[:n]
	switch {
	case s.discard:
	case s.tally != nil:
		add(s.tally, values, changes, s.levels)
	case s.shared == nil:
		s.scatter(s.tables, s.entries, values, changes)
	default:
		for i, v := range values {
			if k := int64(v); k < int64(len(s.shared)) {
				atomic.AddInt64(&s.shared[k], int64(changes[i]))
			}
		}
	}
}

// flush moves the content of the tables to sums.
func (s *sink[L, C]) flush(sums []int64) {
	for t := s.tables; len(t) >= s.entries && len(t) > 0; t = t[s.entries:] {
		for k := range sums {
			sums[k] += int64(t[k])
		}
		clear(t[:s.entries])
	}
}
