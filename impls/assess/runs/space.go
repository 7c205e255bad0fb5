package runs

import (
	"math/bits"
	"slices"

	"eccbench/internal/grid"
)

// A space is the layout of masks of a box as words of bits. An empty word follows each row, an
// empty row follows each plane, and the same precede all.
type space struct {
	box
	stride, plane int // distances of rows and planes
}

// A box is d planes of h rows, starting at plane z and row y.
type box struct{ z, y, d, h, words int }

func newSpace(b box) space { return space{b, b.words + 1, (b.h + 2) * (b.words + 1)} }

// row returns the index of the first word of a row, −1 ≤ z ≤ d and −1 ≤ y ≤ h.
func (s *space) row(z, y int) int { return (z+1)*s.plane + (y+1)*s.stride + 1 }

// ends returns the index of the first word of the box, and of the first after it.
func (s *space) ends() (first, end int) { return s.row(0, 0), s.row(s.d-1, s.h) }

// newMask returns an empty mask.
func (s *space) newMask() []uint64 { return grid.NewTouched[uint64](int64((s.d+2)*s.plane + 1)) }

// eachRow calls f with the first word of each row.
func (s *space) eachRow(f func(z, y, first int)) {
	for z := range s.d {
		for y := range s.h {
			f(z, y, s.row(z, y))
		}
	}
}

// planes returns the first words of the planes that have voxels, and the number of runs.
func (s *space) planes(mask []uint64) (list []int, runs int64) {
	for z := range s.d {
		first, last, before := s.row(z, 0), uint64(0), runs
		for _, v := range mask[first:][:s.h*s.stride] {
			if v != 0 {
				runs += int64(bits.OnesCount64(v &^ (v<<1 | last>>63)))
			}
			last = v
		}
		if runs > before {
			list = append(list, first)
		}
	}
	return list, runs
}

// count returns the number of voxels of a mask.
func count(mask []uint64) (n int64) {
	for _, v := range mask {
		n += int64(bits.OnesCount64(v))
	}
	return n
}

// before returns word p such that bit x is voxel x − 1, and after such that it is voxel x + 1.
func before(mask []uint64, p int) uint64 { return mask[p]<<1 | mask[p-1]>>63 }
func after(mask []uint64, p int) uint64  { return mask[p]>>1 | mask[p+1]<<63 }

// starts returns the first voxels of the runs in word p.
func starts(mask []uint64, p int) uint64 { return mask[p] &^ before(mask, p) }

// common returns the first voxels of the runs in word p of one mask that two words share.
func common(a []uint64, p int, b []uint64, q int) uint64 {
	both := a[p] & b[q]
	return both &^ (both<<1 | (a[p-1]&b[q-1])>>63)
}

// outside returns the gaps of a mask that faces connect with the outside of the box, and the other gaps. If there are
// few of the latter, it finds all, and returns the former only in planes next to them. Otherwise it may leave some of
// the former among the latter.
func (s *space) outside(mask []uint64, flat bool) (trunk, left []uint64) {
	if trunk, left, ok := s.closed(mask, flat); ok {
		planes, _ := s.planes(left)
		for _, first := range planes {
			for _, by := range [3]int{0, -s.plane, s.plane} {
				for p := first + by; p < first+by+s.h*s.stride && (by == 0 || !flat); p++ {
					trunk[p] = ^(mask[p] | left[p])
				}
			}
		}
		return trunk, left
	}
	trunk, left = s.newMask(), s.newMask()
	s.eachRow(func(z, y, first int) {
		open := y == 0 || y == s.h-1 || !flat && (z == 0 || z == s.d-1)
		some := uint64(0)
		for p := first; p < first+s.words; p++ {
			some |= mask[p]
			left[p] = ^mask[p]
		}
		if open || some == 0 {
			copy(trunk[first:], left[first:][:s.words])
			return
		}
		trunk[first] |= left[first] & 1
		trunk[first+s.words-1] |= left[first+s.words-1] & (1 << 63)
	})
	s.growOn(trunk, left)
	return trunk, left
}

// inside returns a part of a large component of a mask, and the other voxels. The part is nil if there seems to be
// none. voxels is the number of voxels of the mask.
func (s *space) inside(mask []uint64, voxels int64) (trunk, left []uint64) {
	seed := len(mask) / 2
	for ; seed < len(mask) && mask[seed] == 0; seed++ {
	}
	if isSparse := voxels < 16*int64(len(mask)); isSparse || seed == len(mask) {
		return nil, mask
	}
	trunk = s.newMask()
	trunk[seed] = mask[seed] & -mask[seed]
	s.grow(trunk, mask) // from a voxel in the middle it reaches the first planes in one direction alone
	if s.grow(trunk, mask); count(trunk) < voxels/4 {
		return nil, mask
	}
	left = s.newMask()
	copy(left, mask)
	s.growOn(trunk, left)
	return trunk, left
}

// growOn grows a trunk while that helps, and removes it from the voxels of its kind. The rest is
// joined by runs.
func (s *space) growOn(trunk, left []uint64) {
	for n, last := s.grow(trunk, left), len(left); n > len(left)/64 && n < last-last/8; {
		n, last = s.grow(trunk, left), n
	}
	for p, v := range trunk {
		left[p] &^= v
	}
}

// extend returns the runs of a word that have some of the voxels.
func extend(voxels, runs uint64) uint64 {
	voxels |= runs &^ (runs + voxels) // the carry runs to the end of a run
	for by, same := uint(1), runs; by < 64 && voxels != runs; by *= 2 {
		voxels |= voxels >> by & same
		same &= same >> by // voxels whose next ones are of the same run
	}
	return voxels
}

// grow grows a trunk within all voxels of its kind, from the first word to the last and back. It returns the number of
// words that miss voxels.
func (s *space) grow(trunk, all []uint64) (missing int) {
	first, end := s.ends()
	own, to, n := all[first:end], trunk[first:end], end-first
	row, plane, last := trunk[first-s.stride:][:n], trunk[first-s.plane:][:n], uint64(0)
	for p, v := range own {
		if to[p] != v {
			voxels := (to[p] | row[p] | plane[p] | last>>63) & v
			to[p] = voxels | v&^(v+voxels) // the carry runs to the end of a run
		}
		last = to[p]
	}
	row, plane, last = trunk[first+s.stride:][:n], trunk[first+s.plane:][:n], 0
	for p, v := range slices.Backward(own) {
		if to[p] != v {
			voxels, runs := (to[p]|row[p]|plane[p]|last<<63)&v, v
			for by := uint(1); by < 16; by *= 2 { // longer runs are rare
				voxels |= voxels >> by & runs
				runs &= runs >> by
			}
			if to[p] = voxels; voxels != v {
				missing++
			}
		}
		last = to[p]
	}
	return missing
}
