// Package extrema counts only the local extrema of min-filtered rows (the
// identity and its proof are in doc/proofs/extrema.md): for each set S of the axes
// other than x, the image after the minimum over each voxel and its successor
// along every axis of S changes the curve by one at each local maximum of a row
// and by minus one at each local minimum, with the sign (−1)^(d−|S|).
//
// The changes of a filtered row are handed down to the voxels that gave the
// minima, so that each voxel ends with one small number, most of them 0.
package extrema

import (
	"cmp"
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
)

// nsPerVoxel is what one voxel costs one core, for the estimate in a refusal: at
// least twice what a server core of 2025 takes, more where all cores add to one table, and
// where levels are searched for, of which it takes 20 to 150 as they are few or millions.
func (l layout) nsPerVoxel(isa string) int64 {
	ns := map[string]int64{AVX512: 1, AVX2: 2, Portable: 12}[isa]
	if l.tables == 0 {
		ns += 20
	}
	if l.searched {
		ns += 300
	}
	if l.tallied {
		ns += 40
	}
	return ns
}

// Implementation is the implementation on the host's cores. Its zero value is
// ready.
type Implementation struct {
	fault Fault
	rows  int64 // of a strip; 0 for as many as the cache holds
	slab  int64 // slices of a slab; 0 for as many as slabBytes
	pairs int   // that a tally gathers; 0 for gathered, or fewer of a small image
}

// About describes the method.
func (i Implementation) About() bench.About {
	a := bench.About{
		Name:   "extrema",
		Where:  "cpu",
		Method: "local extrema of min-filtered rows, in vector lanes, all cores",
		Source: "doc/proofs/extrema.md",
		Scopes: []bench.Scope{bench.E2E, bench.File},
		ISAs:   available(),
	}
	if i.fault != "" {
		a.Method += "; planted fault: " + string(i.fault)
	}
	return a
}

// Gapped says that voxels above the last level are as if outside.
func (i Implementation) Gapped() {}

// Joins says that its jobs count what an image adds to another one.
func (i Implementation) Joins() {}

// CanDo refuses an instruction set that the machine does not have, and what
// would need more memory or time than the conditions allow.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	isa, err := choose(c.ISA)
	if err != nil {
		return err
	}
	if w := in.Shape().W; w > 2*flushAfter {
		return fmt.Errorf("rows of %d voxels: of more than %d the changes may not fit its integers", w, 2*flushAfter)
	}
	l := i.layout(in, c.Threads)
	n, nsPerVoxel := in.Shape().Voxels(), l.nsPerVoxel(isa)
	estimate := quantity.Seconds(float64(n*nsPerVoxel) * 1e-9 / float64(l.threads))
	if err := c.Allow(estimate, "%d voxels × %d ns on %d cores", n, nsPerVoxel, l.threads); err != nil {
		return err
	}
	return c.AllowMemory(l.memory(), "%d cores × %s, %d levels", l.threads, quantity.Bytes(l.core()), l.levels)
}

// Setup allocates what each core needs.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	isa, err := choose(c.ISA)
	if err != nil {
		return nil, err
	}
	l := i.layout(in, c.Threads)
	switch l.size {
	case 1:
		return newHostJob(i, in, l, kernels8(isa)), nil
	case 2:
		return newHostJob(i, in, l, kernels16(isa)), nil
	}
	return newHostJob(i, in, l, kernels32(isa)), nil
}

// A layout says how an image is shared out among the cores, and how a core goes
// through its share. A 2D image is one plane, whose rows are its slices.
type layout struct {
	n, h, w  int64 // planes, rows, columns
	flat     bool
	element  int64  // bytes of a value
	resident []byte // the whole image when it is in memory
	levels   int64
	searched bool // by search among them
	tallied  bool // they are too many for a table
	pairs    int  // that a tally gathers

	size    int64 // bytes of a lane: of a level, and of a change
	pad     int64 // the level of what is outside, above every level or equal to the last
	stride  int64 // lanes from one row to the next
	threads int
	chunk   int64 // slices that a core takes at a time
	slab    int64 // slices that it reads at a time; 0 when the image is in memory
	strip   int64 // rows that it marches through at a time
	strips  int64 // that cores take each by itself: all of an image in memory, else one
	tables  int   // of changes, for each core; 0 for one table of all cores
}

const (
	// slabBytes is the size of the slabs that each core asks a streamed source for.
	slabBytes = 32 << 20
	// stripBytes is what a strip may take of a core's cache.
	stripBytes = 256 << 10
	// lead is the number of bytes before the first voxel of a row: a vector.
	lead = 64
	// sharedLevels is the number of levels from which the cores add to one
	// table of changes instead of each to its own.
	sharedLevels = 1 << 20
	// tableBytes is what a core's tables may take where it has several, so
	// that additions to one level need not wait for each other.
	tableBytes = 32 << 10
)

func (i Implementation) layout(in grid.Source, threads int) layout {
	s := in.Shape()
	l := layout{n: s.D, h: s.H, w: s.W, flat: s.D == 1, element: in.Type().Size(), levels: in.Ladder().Len(), searched: searched(in), tallied: tallied(in.Ladder()), pairs: cmp.Or(i.pairs, int(min(gathered, s.Voxels()+1<<recentBits)))}
	l.size, l.pad = lanes(in.Type(), in.Ladder())
	row := lead + (l.w*l.size+lead-1)/lead*lead
	if row%4096 == 0 {
		row += lead // or all rows of a column would compete for a few lines of the cache
	}
	l.stride = row / l.size

	f, resident := in.(*grid.Field)
	slices := s.Slices()
	l.strips = 1
	if l.flat {
		l.share(slices, threads)
		i.cut(&l, l.chunk, 1, row)
	} else {
		strips := i.cut(&l, l.h, 3, row)
		if resident {
			l.strips = strips
		}
		l.share(slices, threads)
	}
	if resident {
		l.resident = f.Data()
	} else {
		l.slab = max(2, min(l.chunk+2, cmp.Or(i.slab, slabBytes/grid.SliceBytes(in))))
		if l.flat {
			l.strip = min(l.strip, l.slab)
			l.slab = l.strip + 2
		}
	}
	if l.levels <= sharedLevels {
		l.tables = 1
		if l.table()*4*4 <= tableBytes {
			l.tables = 4
		}
	}
	return l
}

// share sets the cores that count, and the slices that one takes at a time: of each
// strip of an image in memory by themselves.
func (l *layout) share(slices int64, threads int) {
	l.threads = int(max(1, min(int64(threads), slices*l.strips)))
	l.chunk = slices
	if l.threads > 1 {
		// Four turns a core even out their speeds, and four times as many where strips
		// give them. A chunk costs one or two slices more than it has, so it must not be
		// too short.
		share := (slices*l.strips + int64(l.threads) - 1) / int64(l.threads)
		turns := min(16, 4*l.strips)
		l.chunk = min(slices, max((share+turns-1)/turns, min(32, share)))
	}
}

// cut sets how many of some rows make a strip, of so many planes that a core's cache
// holds, and returns how many strips they make.
func (i Implementation) cut(l *layout, rows, planes, rowBytes int64) (strips int64) {
	l.strip = i.rows
	if l.strip == 0 {
		l.strip = max(8, stripBytes/(planes*rowBytes))
	}
	l.strip = max(1, min(l.strip, rows))
	l.strip = max(1, min(l.strip, flushAfter/l.w))
	strips = (rows + l.strip - 1) / l.strip
	l.strip = (rows + strips - 1) / strips // as many strips, but even
	return strips
}

// table is the number of entries of a table: one for each level and one for what
// is outside, with a tail that keeps tables off each other's cache lines.
func (l layout) table() int64 { return (l.levels+16)/16*16 + 16 }

// lanes is the number of bytes in which the levels of a type on a ladder fit,
// and the level of what is outside. Where the levels take all values of a lane,
// that is the last level; the kernels then tell the two apart by place.
func lanes(t grid.Type, ladder grid.Ladder) (size, pad int64) {
	n := ladder.Len()
	top := n // the highest level of any value: n stands for above all
	if bits := 8 * t.Size(); bits <= 16 && n == 1<<bits && ladder.Level(highest(t)) < n {
		top = n - 1
	}
	switch {
	case top <= math.MaxUint8:
		return 1, top
	case top <= math.MaxUint16:
		return 2, top
	}
	return 4, top
}

// highest is the highest value of an 8 or 16-bit type.
func highest(t grid.Type) float32 {
	switch t {
	case grid.Uint8:
		return math.MaxUint8
	case grid.Int16:
		return math.MaxInt16
	}
	return math.MaxUint16
}

// core is the number of bytes that a core of the layout allocates.
func (l layout) core() int64 {
	planes := (l.strip + 2) * l.stride * l.size
	if !l.flat { // the next one, too
		planes *= 2
	}
	n := planes + l.owed()*l.stride*l.size + l.slab*l.slice()*l.element + 2*l.buffer()*l.size + l.w*l.size + 3*4*l.w
	if l.tallied {
		return n + 2*8*int64(l.pairs)
	}
	return n + int64(l.tables)*l.table()*4 + 8*min(l.levels, int64(l.tables)*l.levels)
}

// memory is the number of bytes that a job of the layout allocates. A tally allocates
// more as it finds levels that change: a pair for each, two while runs are made one, and a
// step of 16 bytes; a voxel has at most one.
func (l layout) memory() int64 {
	if l.tallied {
		return int64(l.threads)*l.core() + 32*l.n*l.h*l.w
	}
	return int64(l.threads)*l.core() + 8*l.levels
}

// slice is the number of voxels of a slice.
func (l layout) slice() int64 {
	if l.flat {
		return l.w
	}
	return l.h * l.w
}

// owed is the number of rows of changes that are kept from plane to plane: those
// of a strip, or of a whole plane where strips take turns with slabs.
func (l layout) owed() int64 {
	switch {
	case l.flat:
		return 0
	case l.slab > 0:
		return l.h
	}
	return l.strip
}

// buffer is the number of changes that a kernel can find before it adds them to
// the tables: those of a row, or of a column of vectors as high as a strip.
func (l layout) buffer() int64 { return max(l.stride, (l.strip+2)*lead/l.size) + 2*lead }
