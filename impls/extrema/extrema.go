// Package extrema computes the curve from the local extrema of min-filtered rows (identity and
// proof in doc/proofs/extrema.md). For each set S of the axes other than x, filter the image by the
// minimum over each voxel and its successor along every axis of S. Each local maximum of a row of
// the result changes the curve by (−1)^(d−|S|), and each local minimum by the opposite.
//
// The changes of a filtered row are passed to the voxels that contain the minima. So each voxel
// ends with one small number, which is mostly 0. Vector code (internal/asm) computes them, and a table adds
// them up.
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

// nsPerVoxel is the estimated time per voxel and core, at least twice that of a server core of
// 2025. It is higher if all cores add to one table, and if levels are searched for: the search
// takes 20 ns for few levels and 150 ns for millions.
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

// Implementation is the implementation on the host's cores. Its zero value is ready to use.
type Implementation struct {
	fault Fault
	rows  int64 // rows of a strip; 0 for the number that fits the cache
	slab  int64 // slices of a slab; 0 for slabBytes
	pairs int   // pairs that a tally gathers; 0 for gathered, or fewer for a small image
}

// About describes the method.
func (i Implementation) About() bench.About {
	return bench.About{
		Name:   "extrema",
		Where:  "cpu",
		Method: "local extrema of min-filtered rows, in vector lanes, all cores",
		Source: "doc/proofs/extrema.md",
		Scopes: []bench.Scope{bench.E2E, bench.File},
		ISAs:   available(),
	}.WithFault(string(i.fault))
}

// Gapped marks that voxels above the last level count as outside.
func (i Implementation) Gapped() {}

// PieceBytes returns the memory of a job that counts pieces of some slices of an image, without the levels of a tally.
// Its jobs are Joiners.
func (i Implementation) PieceBytes(in grid.Source, slices int64, threads int) int64 {
	l := i.layoutOf(in, in.Shape().WithSlices(slices), threads, true)
	need := int64(l.threads) * l.core()
	if !l.tallied {
		need += 8 * l.levels
	}
	return need
}

// CanDo rejects an unavailable instruction set, and an input that needs more memory or time than
// the conditions allow.
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
	if l.tallied && c.Once { // Do counts the levels
		return c.AllowMemory(int64(l.threads)*l.core(), "%d cores × %s", l.threads, quantity.Bytes(l.core()))
	}
	return c.AllowMemory(l.memory(), "%d cores × %s, %d levels", l.threads, quantity.Bytes(l.core()), l.levels)
}

// Setup allocates the memory of each core.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	isa, err := choose(c.ISA)
	if err != nil {
		return nil, err
	}
	l := i.layout(in, c.Threads)
	room := newRoom(c.Memory, int64(l.threads)*l.core())
	switch l.size {
	case 1:
		return newHostJob(i, in, l, kernels8(isa), room), nil
	case 2:
		return newHostJob(i, in, l, kernels16(isa), room), nil
	}
	return newHostJob(i, in, l, kernels32(isa), room), nil
}

// A layout divides an image among the cores, and each core's share into strips. A 2D image is one
// plane, whose rows are its slices.
type layout struct {
	n, h, w  int64 // planes, rows, columns
	flat     bool
	element  int64  // bytes of a value
	resident []byte // the image, if it is in memory
	levels   int64
	searched bool // levels are found by search
	tallied  bool // too many levels for a table
	pairs    int  // pairs that a tally gathers

	size    int64 // bytes of a lane, which contains a level or a change
	pad     int64 // level of the outside: above every level, or equal to the last
	stride  int64 // distance between rows, in lanes
	threads int
	chunk   int64 // slices that a core processes per turn
	slab    int64 // slices that it reads together; 0 if the image is in memory
	strip   int64 // rows that it processes together
	strips  int64 // strips per turn: all for an image in memory, else one
	tables  int   // tables of changes per core; 0 for one table of all cores
}

const (
	// slabBytes is the size of the slabs that each core reads from a streamed source.
	slabBytes = 32 << 20
	// stripBytes is the size of a strip, so that it stays in a core's cache.
	stripBytes = 256 << 10
	// lead is the number of bytes before the first voxel of a row: one vector.
	lead = 64
	// sharedLevels is the number of levels above which all cores share one table of changes.
	sharedLevels = 1 << 20
	// tableBytes is the maximum size of several tables of a core. With several tables, successive
	// additions to one level need not wait for each other.
	tableBytes = 32 << 10
)

func (i Implementation) layout(in grid.Source, threads int) layout {
	f, resident := in.(*grid.Field)
	l := i.layoutOf(in, in.Shape(), threads, resident)
	if resident {
		l.resident = f.Data()
	}
	return l
}

// layoutOf is layout for an image of another shape, which is in memory or not.
func (i Implementation) layoutOf(in grid.Source, s grid.Shape, threads int, resident bool) layout {
	l := layout{n: s.D, h: s.H, w: s.W, flat: s.D == 1, element: in.Type().Size(), levels: in.Ladder().Len(),
		searched: searched(in), tallied: tallied(in.Ladder()),
		pairs: cmp.Or(i.pairs, int(min(gathered, s.Voxels()+1<<recentBits)))}
	l.size, l.pad = lanes(in.Type(), in.Ladder())
	row := lead + (l.w*l.size+lead-1)/lead*lead
	if row%4096 == 0 {
		row += lead // avoid conflicts of all rows in a few cache sets
	}
	l.stride = row / l.size

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
	if !resident {
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

// share sets the number of cores, and the number of slices per turn. For an image in memory, a turn
// is for one strip of these slices.
func (l *layout) share(slices int64, threads int) {
	l.threads = int(max(1, min(int64(threads), slices*l.strips)))
	l.chunk = slices
	if l.threads > 1 {
		// Four turns per core balance their speeds, or up to 16 if strips provide them. A chunk
		// costs one or two extra slices, so it must not be too short.
		share := (slices*l.strips + int64(l.threads) - 1) / int64(l.threads)
		turns := min(16, 4*l.strips)
		l.chunk = min(slices, max((share+turns-1)/turns, min(32, share)))
	}
}

// cut divides rows into strips that fit a core's cache for the given number of planes, and returns
// the number of strips.
func (i Implementation) cut(l *layout, rows, planes, rowBytes int64) (strips int64) {
	l.strip = i.rows
	if l.strip == 0 {
		l.strip = max(8, stripBytes/(planes*rowBytes))
	}
	l.strip = max(1, min(l.strip, rows))
	l.strip = max(1, min(l.strip, flushAfter/l.w))
	strips = (rows + l.strip - 1) / l.strip
	l.strip = (rows + strips - 1) / strips // equal strips
	return strips
}

// table returns the number of entries of a table: one per level, one for the outside, and padding
// that keeps tables on separate cache lines.
func (l layout) table() int64 { return (l.levels+16)/16*16 + 16 }

// lanes returns the number of bytes per level for a type on a ladder, and the level of the outside.
// If levels use all values of a lane, the outside has the last level; kernels then distinguish them
// by position.
func lanes(t grid.Type, ladder grid.Ladder) (size, pad int64) {
	n := ladder.Len()
	top := n // the highest level of any value; n means above all levels
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

// highest returns the highest value of an 8 or 16-bit type.
func highest(t grid.Type) float32 {
	switch t {
	case grid.Uint8:
		return math.MaxUint8
	case grid.Int16:
		return math.MaxInt16
	}
	return math.MaxUint16
}

// core returns the number of bytes that a core allocates.
func (l layout) core() int64 {
	planes := (l.strip + 2) * l.stride * l.size
	if !l.flat { // two planes
		planes *= 2
	}
	n := planes + l.owed()*l.stride*l.size + l.slab*l.slice()*l.element + 2*l.buffer()*l.size + l.w*l.size + 3*4*l.w
	if l.tallied {
		return n + 2*8*int64(l.pairs)
	}
	return n + int64(l.tables)*l.table()*4 + 8*min(l.levels, int64(l.tables)*l.levels)
}

// memory returns the number of bytes that a job allocates. A tally's memory grows with the levels
// that change: a pair per level, two during a merge, and a step. Each voxel changes at most one
// level.
func (l layout) memory() int64 {
	if l.tallied {
		return int64(l.threads)*l.core() + (2*pairBytes+stepBytes)*l.n*l.h*l.w
	}
	return int64(l.threads)*l.core() + 8*l.levels
}

// slice returns the number of voxels of a slice.
func (l layout) slice() int64 {
	if l.flat {
		return l.w
	}
	return l.h * l.w
}

// owed returns the number of rows of changes that are passed from plane to plane: rows of a strip,
// or of a whole plane if a slab is processed strip by strip.
func (l layout) owed() int64 {
	switch {
	case l.flat:
		return 0
	case l.slab > 0:
		return l.h
	}
	return l.strip
}

// buffer returns the number of changes that a kernel can find before it adds them to the tables:
// those of a row, or of a column of vectors in a strip.
func (l layout) buffer() int64 { return max(l.stride, (l.strip+2)*lead/l.size) + 2*lead }
