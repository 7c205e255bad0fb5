package onepass

// A voxel is first of a cell if it comes before all others that contain the cell: by its key, then
// by x, y and z. Where it is first of F faces, E edges and V corners, its change is 1 − F + E − V.
// That is a count of 26 bits, with F and V inverted, less 13.
const middle = 13

// changes returns the counts of n ≤ 64 voxels in a row, from keys[at] on: bit i of word k is bit k of
// the count of voxel i. Some has a bit for each voxel whose count is not 13.
func changes(keys []int32, at, n, row, plane int64) (count [5]uint64, some uint64) {
	var first [27]uint64 // by the neighbour's dx + 3dy + 9dz + 13: of the cell in the middle between
	here := (*[64]int32)(keys[at:])
	for k := range first {
		dx, dy, dz := int64(k%3-1), int64(k/3%3-1), int64(k/9-1)
		equal := int64(0) // 1 if a neighbour with the same key comes before
		if dx < 0 || dx == 0 && (dy < 0 || dy == 0 && dz < 0) {
			equal = 1
		}
		if k != middle {
			first[k] = ^lessThan((*[64]int32)(keys[at+dx+dy*row+dz*plane:]), here, equal)
		}
	}
	first[middle] = ^uint64(0)
	add := func(word uint64) {
		for k := range count {
			count[k], word = count[k]^word, count[k]&word
		}
	}
	for _, k := range byDimension {
		dx, dy, dz := k%3-1, k/3%3-1, k/9-1
		inverted := uint64(0)
		for _, d := range [3]int{dx, 3 * dy, 9 * dz} {
			if d != 0 {
				inverted = ^inverted
				first[k] &= first[k-d]
			}
		}
		add(first[k] ^ inverted)
	}
	none := count[0] &^ count[1] & count[2] & count[3] &^ count[4] // 13
	return count, ^none & (^uint64(0) >> (64 - n))
}

// byDimension lists the neighbours across a face, then across an edge, then across a corner.
var byDimension = []int{4, 10, 12, 14, 16, 22, 1, 3, 5, 7, 9, 11, 15, 17, 19, 21, 23, 25, 0, 2, 6, 8, 18, 20, 24, 26}

// lessThan returns a bit for each i, set if list[i] < of[i] + plus. Plus is 0 or 1.
func lessThan(list, of *[64]int32, plus int64) uint64 {
	const top = 1 << 63
	var a, b, c, d uint64
	for i := range 16 {
		a = a>>1 | uint64(int64(list[i])-int64(of[i])-plus)&top
		b = b>>1 | uint64(int64(list[i+16])-int64(of[i+16])-plus)&top
		c = c>>1 | uint64(int64(list[i+32])-int64(of[i+32])-plus)&top
		d = d>>1 | uint64(int64(list[i+48])-int64(of[i+48])-plus)&top
	}
	return a>>48 | b>>48<<16 | c>>48<<32 | d>>48<<48
}
