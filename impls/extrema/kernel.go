package extrema

import "sync/atomic"

// A lane holds a level, and a change is as wide.
type (
	lane   interface{ uint8 | uint16 | uint32 }
	change interface{ int8 | int16 | int32 }
)

// A tile is a strip of one plane, or of two planes one above the other, in
// levels. Rows are stride lanes apart, and voxel x of a row is lane lead/size+x.
// What is outside the image has the level of the pad; there is a row before and
// one after the strip, a vector before each row, and pad up to a whole vector
// and one more behind it.
type tile[L lane, C change] struct {
	below, above []L // (rows+2)·stride lanes and a vector; above is nil in 2D
	// owed are the changes of the plane below that the plane before it has
	// handed up, (rows)·stride lanes and a vector; the kernel replaces them by
	// those of the plane above.
	owed          []C
	rows          int
	width, stride int
	first         bool   // the row before the strip is outside the image
	outside       bool   // the plane below is
	ahead         []byte // values that will be read soon, to be fetched meanwhile
}

// Kernels are the functions that an instruction set has for one width of lanes.
type kernels[L lane, C change] struct {
	// volume adds the changes of the plane below to the sink, and area those of
	// the one plane of a 2D image.
	volume, area func(*tile[L, C], *sink[L, C])
	// scatter adds changes[i] to the entry values[i] of a table; successive
	// additions go to different tables of so many entries.
	scatter func(tables []int32, entries int, values []L, changes []C)
	// rows gives what turns values into levels, or nil for the portable way.
	rows func(*levels[L]) rowsFunc[L]
}

// A rowsFunc turns rows of n values that follow each other in src into levels,
// stride lanes from row to row of dst, with scratch for n levels.
type rowsFunc[L lane] func(dst []L, src []byte, n, rows, stride int, scratch []int32)

// A sink adds changes to tables, or to the one of all cores.
type sink[L lane, C change] struct {
	values  []L // found and not yet added
	changes []C
	handed  [2][]int32 // from row to row, by the portable kernels
	discard bool       // add nothing: the voxels are another core's

	scatter func(tables []int32, entries int, values []L, changes []C)
	tables  []int32
	entries int
	shared  []int64
	tally   *tally // in place of both, where there are too many levels
	levels  int64  // of the ladder
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

// flush moves what the tables hold to sums.
func (s *sink[L, C]) flush(sums []int64) {
	for t := s.tables; len(t) >= s.entries && len(t) > 0; t = t[s.entries:] {
		for k := range sums {
			sums[k] += int64(t[k])
		}
		clear(t[:s.entries])
	}
}
