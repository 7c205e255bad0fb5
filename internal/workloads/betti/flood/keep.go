package flood

import (
	"sync"
	"sync/atomic"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

// A keeper is an image that fills its set while an implementation reads it, so that no second read
// is necessary. The goroutine that reads the last plane of a slab fills the slab.
type keeper struct {
	grid.Source
	*flood
	planes []atomic.Bool // planes that were read
	bits   []slabBits
	filled atomic.Int64 // slabs
	rooms  sync.Pool    // for the bits of a slab
	idle   sync.Pool    // fillers
}

// slabBits are the bits of a partly read slab.
type slabBits struct {
	once   sync.Once
	inside *[]uint64
	planes atomic.Int64 // the number of planes read
}

// Keeping returns an image that fills a set during reading. It returns an image in memory unchanged.
func Keeping(in grid.Source, set Set) grid.Source { return keeping(in, set, 0, mainWords) }

func keeping(in grid.Source, set Set, planes int64, few int) grid.Source {
	if _, whole := in.(*grid.Field); whole {
		return in
	}
	k := &keeper{Source: in, flood: newFlood(in, set, planes, few)}
	k.prepare()
	k.rooms.New = func() any { room := k.newSlab(); return &room }
	k.idle.New = func() any { return &filler{} }
	k.planes, k.bits = make([]atomic.Bool, k.d), make([]slabBits, len(k.slabs))
	return k
}

// KeptBytes estimates the memory of the bits if every slab has a plane that is not read yet.
func KeptBytes(s grid.Source) int64 {
	d, h, w := cells.Stack(s.Shape())
	return 8 * d * (h + 2) * cells.RowWords(w)
}

// ReadSlab reads slices lo ≤ i < hi and fills the slabs that are complete now.
func (k *keeper) ReadSlab(dst []byte, lo, hi int64) error {
	if err := k.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	bytes := grid.SliceBytes(k.Source)
	for z := lo; z < hi; z++ {
		if k.planes[z].Swap(true) {
			continue
		}
		n := z / k.flood.planes
		first, end := k.span(n)
		b := &k.bits[n]
		b.once.Do(func() { b.inside = k.rooms.Get().(*[]uint64) })
		k.put(k.planeOf(*b.inside, z-first), dst[(z-lo)*bytes:][:bytes])
		if b.planes.Add(1) == end-first {
			k.complete(n)
		}
	}
	return nil
}

// complete fills a slab with all planes read.
func (k *keeper) complete(n int64) {
	by := k.idle.Get().(*filler)
	defer k.idle.Put(by)
	by.begin(k.flood)
	b := &k.bits[n]
	by.inside = *b.inside
	k.fillSlab(by, n)
	k.rooms.Put(b.inside)
	b.inside = nil
	k.filled.Add(1)
}

// InBulk reports the same as the source does.
func (k *keeper) InBulk() bool { return grid.InBulk(k.Source) }

// filledAs reports whether a set is completely filled.
func (k *keeper) filledAs(set Set) bool {
	return k.set == set && k.filled.Load() == int64(len(k.slabs))
}
