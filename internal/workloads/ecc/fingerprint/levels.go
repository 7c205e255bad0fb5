package fingerprint

import (
	"math"
	"slices"
	"sync"

	"eccbench/internal/grid"
)

// Images on few levels are looked at by their levels: tiles of them take a quarter of the room of tiles of weights. A
// cell's level is the least of those of its voxels, whose bilinear weight is looked up.

const (
	// outsideLevel is what is outside, and above all levels.
	outsideLevel = 1 << 14
	// plusLevel is beside the levels of a list that count positively.
	plusLevel = 1 << 15
	// levelGroup is what columns of tiles of levels are a multiple of.
	levelGroup = 32
	// levelColumns is the most columns that a tile of levels has, and levelBytes what it takes of a core's second cache.
	levelColumns = 1024
	levelBytes   = 64 << 10
	// listLevels is about how long a list of levels grows.
	listLevels = 4 << 10
)

// levels are how the levels of values are found and added up.
type levels struct {
	leveling
	vectors levelVectors
	numbers [forms * 128]byte // as tiles have levels, and none of what is outside
	factors [forms]uint64
	weight  []uint64 // of what tiles have, where there are no vectors
}

// levelVectors are the vector instructions for tiles of levels; nil functions where there are none.
type levelVectors struct {
	// volume and area write the levels that count of the positions of so many rows of 32 columns, with plusLevel
	// where they do positively, and return how many. Two lines of as many rows, apart bytes apart, are fetched from
	// next on. sum adds up n times 64 of those levels, negatively.
	volume func(below, above *uint16, stride, rows int, lanes uint64, to *uint16, next uintptr, apart int) int
	area   func(below *uint16, stride, rows int, lanes uint64, to *uint16, next uintptr, apart int) int
	sum    func(numbers *[forms * 128]byte, factors *[forms]uint64, src *uint16, n int) int64
}

// levelRows turns rows of n values, 32 at least, and returns how many rows, up to one that has what it can not turn.
// Rows are so many bytes from one to the next.
type levelRows func(dst *uint16, src *byte, n, rows, stride, apart int) int

// A leveling turns values into levels as tiles have them: with the bits of reverse turned, so that a cell has the
// least of its voxels', and outsideLevel from the level top on.
type leveling struct {
	size    int // of a value in bytes
	top     int64
	reverse uint16
	// converter is portable, and made for who needs it: that of integers has a table of all values.
	converter func() grid.Converter
	// fast stops at rows with values above the ladder, exactly at those with a value that is no level's own. Both are
	// nil where there are no vectors.
	fast, exactly levelRows
}

// newLevels is how images of a type on a ladder are looked at.
func newLevels(t grid.Type, l grid.Ladder, w weights, top int64, isa string) *levels {
	s := &levels{vectors: levelVectorsOf(isa), factors: w.multilinear.factors, numbers: [forms * 128]byte(w.multilinear.in64(0))}
	s.size, s.top = int(t.Size()), min(top, l.Len())
	s.converter = sync.OnceValue(func() grid.Converter { return grid.NewConverter(t, l) })
	if w.in.Superlevel {
		s.reverse = uint16(ofLevels.most() - 1)
	}
	for i := range forms {
		numbers := s.numbers[128*i:][:128]
		if w.in.Superlevel { // the numbers of levels whose bits are turned
			slices.Reverse(numbers[:32])
			slices.Reverse(numbers[64:96])
			slices.Reverse(numbers[96:])
		}
		clear(numbers[32:64])
	}
	if s.vectors.sum == nil {
		s.weight = make([]uint64, outsideLevel+1)
		for level := range uint16(s.top) {
			s.weight[level^s.reverse] = w.with(nil, int64(level))
		}
	}
	if s.top == l.Len() { // vectors know of the last level alone
		s.fast, s.exactly = levelRowsOf(isa, t, l, s.reverse)
	}
	return s
}

// rows writes the levels of the values of src, row by row of so many columns: entries of dst from one to the next are
// stride apart, bytes of src are apart. Of an image with a watcher, who is shown float32 of which some are no level's own.
func (u *leveling) rows(w grid.Watcher, dst []uint16, src []byte, rows, columns, stride, apart int64) {
	fast := u.fast
	if w != nil {
		fast = u.exactly
	}
	for y := int64(0); y < rows; y++ {
		if fast != nil && columns >= levelGroup {
			if y += int64(fast(&dst[y*stride], &src[y*apart], int(columns), int(rows-y), int(2*stride), int(apart))); y == rows {
				return
			}
		}
		row := src[y*apart:][:columns*int64(u.size)]
		if w != nil {
			w.Look(row)
		}
		u.row(dst[y*stride:][:columns], row)
	}
}

// row turns as many values at a time as vectors do, and one by one where they do not.
func (u *leveling) row(dst []uint16, src []byte) {
	var (
		levels [levelGroup]uint16
		each   [levelGroup]int32
		values [4 * levelGroup]byte
	)
	for len(dst) > 0 {
		n := min(levelGroup, len(dst))
		from, to := &src[0], &dst[0]
		if n < levelGroup { // with the first value again and again
			copied := copy(values[:], src)
			for copied < levelGroup*u.size {
				copied += copy(values[copied:], src[:u.size])
			}
			from, to = &values[0], &levels[0]
		}
		switch {
		case u.fast == nil || u.fast(to, from, levelGroup, 1, 0, 0) == 0:
			u.converter().Convert(each[:n], src[:n*u.size])
			for i, level := range each[:n] {
				dst[i] = outsideLevel
				if int64(level) < u.top {
					dst[i] = uint16(level) ^ u.reverse
				}
			}
		case n < levelGroup:
			copy(dst, levels[:n])
		}
		dst, src = dst[n:], src[n*u.size:]
	}
}

// A list is of levels that count.
type list struct {
	*levels
	room []uint16
	n    int
	sum  uint64
	// next is where the values are that are turned after those of a tile, apart bytes from row to row.
	next  uintptr
	apart int
}

// newList has room for what columns of so many rows have.
func newList(s *levels, rows int64) *list {
	return &list{levels: s, room: make([]uint16, listLevels+int(rows+1)*4*levelGroup+2*levelGroup)}
}

// look adds up the list, and empties it.
func (l *list) look() {
	const vector = 2 * levelGroup
	for i := range vector {
		l.room[l.n+i] = outsideLevel
	}
	for at := 0; at < l.n; at += atOnce {
		l.sum -= uint64(l.vectors.sum(&l.numbers, &l.factors, &l.room[at], (min(l.n-at, atOnce)+vector-1)/vector))
	}
	l.n = 0
}

// add has the list of the columns of a tile.
func (l *list) add(columns int64, first bool, of func(x int64, lanes uint64, to *uint16, next uintptr) int) (sum uint64) {
	for x := int64(0); x < columns; x += levelGroup {
		lanes := uint64(math.MaxUint32)
		if first && x == 0 {
			// What is before the first column has the cells of the lesser levels of it and that column alone, which
			// are those of that column. They take its own away.
			lanes--
		}
		if l.n > listLevels {
			l.look()
		}
		l.n += of(x, lanes, &l.room[l.n], l.next+uintptr(x)*uintptr(l.size))
	}
	l.look()
	sum, l.sum = l.sum, 0
	return sum
}

// volume adds up the cells of the positions of two tiles.
func (l *list) volume(below, above []uint16, stride, rows, columns int64, first bool) uint64 {
	if l.vectors.volume == nil {
		return l.portably(below, above, stride, rows, columns, first)
	}
	return -l.add(columns, first, func(x int64, lanes uint64, to *uint16, next uintptr) int { // a square counts positively, a cube negatively
		return l.vectors.volume(&below[x], &above[x], int(2*stride), int(rows), lanes, to, next, l.apart)
	})
}

// area is volume of a tile of a 2D image.
func (l *list) area(tile []uint16, stride, rows, columns int64, first bool) uint64 {
	if l.vectors.area == nil {
		return l.portably(tile, nil, stride, rows, columns, first)
	}
	return l.add(columns, first, func(x int64, lanes uint64, to *uint16, next uintptr) int {
		return l.vectors.area(&tile[x], int(2*stride), int(rows), lanes, to, next, l.apart)
	})
}

// portably adds up cell by cell.
func (l *list) portably(below, above []uint16, stride, rows, columns int64, first bool) (sum uint64) {
	from := int64(0)
	if first {
		from = -1
	}
	at := func(tile []uint16, i, x int64) uint16 {
		if x < 0 {
			return outsideLevel
		}
		return tile[i+x]
	}
	for y := range rows {
		for x := from; x < columns; x++ {
			i, j := y*stride, (y+1)*stride
			v, h, u, d := at(below, i, x), at(below, i, x+1), at(below, j, x), at(below, j, x+1)
			plane := l.weight[v] - l.weight[min(v, h)] - l.weight[min(v, u)] + l.weight[min(v, h, u, d)]
			if above == nil {
				sum += plane
				continue
			}
			v, h, u, d = min(v, at(above, i, x)), min(h, at(above, i, x+1)), min(u, at(above, j, x)), min(d, at(above, j, x+1))
			sum += l.weight[v] - l.weight[min(v, h)] - l.weight[min(v, u)] + l.weight[min(v, h, u, d)] - plane
		}
	}
	return sum
}
