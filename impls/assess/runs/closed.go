package runs

import "math/bits"

// A flood fills gaps of a mask across faces.
type flood struct {
	*space
	mask       []uint64
	open, left []uint64 // the filled gaps that touch the outside, and the others
	near       []int    // distances of the words that share faces with a word, along z and y
	due        []fill   // of the gap at work
	budget     int      // words that may still be filled
}

// A fill is the voxels of a word that are filled at once.
type fill struct {
	p      int
	voxels uint64
}

// closed finds the gaps of a mask that faces do not connect with the outside of the box, and some of the others. It
// returns false if it would have to fill many gaps.
func (s *space) closed(mask []uint64, flat bool) (open, left []uint64, ok bool) {
	f := flood{space: s, mask: mask, open: s.newMask(), left: s.newMask(), budget: 64 + len(mask)/16,
		near: []int{-s.stride, s.stride}}
	before := s.stride
	if !flat {
		f.near, before = append(f.near, -s.plane, s.plane), s.plane
	}
	for z := range s.d {
		first, size := s.row(z, 0), s.h*s.stride
		own, c, b := mask[first:][:size], mask[first-s.stride:][:size], mask[first-before:][:size]
		for i, v := range own {
			alone := c[i] & b[i] &^ v // gaps that touch none of the rows before
			if alone == 0 {
				continue
			}
			p := first + i
			starts := alone &^ (^v<<1 | ^mask[p-1]>>63)
			ends, more := bits.Add64(alone, starts, 0) // the carry runs to the end of a run
			// The first run of a closed gap is alone. Runs that continue in the next word may be.
			for seeds := ends&^alone&v>>1 | more<<63; seeds != 0; seeds &= seeds - 1 {
				if f.fill(p, seeds&-seeds); f.budget < 0 {
					return nil, nil, false
				}
			}
		}
	}
	return f.open, f.left, true
}

// fill fills the gap of a voxel of word from, up to voxels of the outside, of open gaps or of an earlier word. A gap
// with such a voxel is open: a closed one was filled from its first run.
func (f *flood) fill(from int, voxel uint64) {
	if (f.open[from]|f.left[from])&voxel != 0 {
		return
	}
	f.due = f.due[:0]
	ok := f.spread(from, from, voxel)
	for i := 0; ok && i < len(f.due); i++ {
		at := f.due[i]
		ok = f.spread(from, at.p-1, at.voxels<<63) && f.spread(from, at.p+1, at.voxels>>63)
		for k := 0; ok && k < len(f.near); k++ {
			ok = f.spread(from, at.p+f.near[k], at.voxels)
		}
	}
	if f.budget -= len(f.due); ok {
		return
	}
	for _, at := range f.due {
		f.left[at.p] &^= at.voxels
		f.open[at.p] |= at.voxels
	}
}

// spread fills the runs of gaps of word p with some of the voxels. It returns false at the outside, at open gaps and
// before the word first. Around the box faces connect all words with the empty words between rows.
func (f *flood) spread(first, p int, voxels uint64) bool {
	voxels &^= f.mask[p] | f.left[p]
	if voxels == 0 {
		return true
	}
	_, end := f.ends()
	if p < first || p >= end || (p-1)%f.stride == f.words || f.open[p]&voxels != 0 {
		return false
	}
	voxels = extend(voxels, ^f.mask[p])
	f.left[p] |= voxels
	f.due = append(f.due, fill{p, voxels})
	return true
}
