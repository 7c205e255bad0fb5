package betti

import (
	"sync"
	"sync/atomic"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// A keeper is an image whose set in a convention is filled while the image is read for an answer: what an implementation
// is given is what is filled, and nothing is read once more for that. Who reads the last plane of a slab fills it.
type keeper struct {
	grid.Source
	*flood
	planes []atomic.Bool // that were read
	bits   []slabBits
	filled atomic.Int64 // slabs
	rooms  sync.Pool    // for the bits of a slab
	idle   sync.Pool    // fillers
}

// slabBits are those of a slab of which some planes were read.
type slabBits struct {
	once   sync.Once
	inside *[]uint64
	planes atomic.Int64 // how many are there
}

// Keeping is an image whose set in a convention is filled while it is read. One that is in memory stays as it is.
func Keeping(in *Image, c ecc.Convention) *Image { return keeping(in, c, 0, mainWords) }

func keeping(in *Image, c ecc.Convention, planes int64, few int) *Image {
	if _, whole := in.Source.(*grid.Field); whole {
		return in
	}
	k := &keeper{Source: in.Source, flood: newFlood(in, c, planes, few)}
	k.prepare()
	k.rooms.New = func() any { room := k.newSlab(); return &room }
	k.idle.New = func() any { return &filler{} }
	k.planes, k.bits = make([]atomic.Bool, k.d), make([]slabBits, len(k.slabs))
	return &Image{k, in.Threshold}
}

// KeptBytes is about what an image of which each slab has a plane that is not read yet takes, in bits.
func KeptBytes(s grid.Source) int64 {
	d, h, w := ecc.Stack(s.Shape())
	return 8 * d * (h + 2) * ecc.RowWords(w)
}

// ReadSlab reads slices lo ≤ i < hi, and fills what is complete with those that were not read before.
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
		k.put(*b.inside, z-first, dst[(z-lo)*bytes:][:bytes])
		if b.planes.Add(1) == end-first {
			k.complete(n)
		}
	}
	return nil
}

// complete fills a slab all of whose planes were read.
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

// InBulk is that of the source.
func (k *keeper) InBulk() bool { return grid.InBulk(k.Source) }

// filledAs reports whether a set is filled that an image has at a threshold in a convention.
func (k *keeper) filledAs(threshold float32, c ecc.Convention) bool {
	return k.convention == c && k.in.Threshold == threshold && k.filled.Load() == int64(len(k.slabs))
}
