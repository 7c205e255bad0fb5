package flood

import (
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/isa"
)

// A main component grows in a row to its neighbours, at least to the ends of runs, and to nothing
// else, for all instructions and all widths. A wrong voxel would join separate components.
func componentsGrow(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(5, 5))
	const rows = 5 // the middle one of a plane grows
	for _, name := range isa.Available(assembled) {
		across := name == isa.Portable // vectors do not change words next to them
		for n := range times {
			width := 1 + rng.Int64N(1200)
			if n%40 == 0 { // more words than a byte can count
				width += 256 * 64
			}
			stride := width/64 + 1
			plane := rows * stride
			planes, corners, back := 1+rng.Int64N(3), rng.IntN(2) == 0, rng.IntN(2) == 0
			left, main := make([]uint64, (planes+2)*plane), make([]uint64, (planes+2)*plane)
			share, full, seldom := rng.IntN(9), rng.IntN(3) == 0, []int{20, 2000}[rng.IntN(2)]
			for i := range int64(len(left)) / stride {
				for x := range width {
					if rng.IntN(8) < share || full && x/64%3 > 0 {
						set(left[i*stride:], x)
						if rng.IntN(seldom) == 0 {
							set(main[i*stride:], x)
						}
					}
				}
			}
			sign := int64(1)
			first := plane + rows/2*stride
			if back {
				first, sign = planes*plane+rows/2*stride, -1
			}
			want := slices.Clone(main)
			k := floodKernelOf(name)
			grow := k.faces
			if corners {
				grow = k.corners
			}
			grow(main, left, first, (width+63)/64, -sign*stride, -sign*plane, stride, sign*plane, planes)
			for z := range planes {
				at := first + z*sign*plane
				seeds := []int64{at, at - sign*stride, at - sign*plane}
				reach := int64(0)
				if corners {
					seeds, reach = append(seeds, at-sign*plane-stride, at-sign*plane+stride), 1
				}
				is := func(of []uint64, at, x int64) bool {
					return x >= 0 && x < width && of[at+x/64]>>(x%64)&1 == 1
				}
				least, most := make([]bool, width), make([]bool, width)
				for x := range width {
					for _, seed := range seeds {
						for d := -reach; d <= reach; d++ {
							some := is(left, at, x) && is(want, seed, x+d)
							most[x], least[x] = most[x] || some, least[x] || some && (d == 0 || across)
						}
					}
				}
				for x := int64(1); x < width; x++ {
					most[x] = most[x] || most[x-1] && is(left, at, x)
					least[x] = least[x] || least[x-1] && is(left, at, x)
				}
				for x := range width - 1 { // and one voxel down
					least[x] = least[x] || least[x+1] && is(left, at, x) && (across || x%64 < 63)
				}
				for x := width - 2; x >= 0; x-- {
					most[x] = most[x] || most[x+1] && is(left, at, x)
				}
				for x := range width {
					if got := is(main, at, x); got && !most[x] || least[x] && !got {
						t.Fatalf("%s, corners %v, back %v: voxel %d of %d of plane %d of %d: %v",
							name, corners, back, x, width, z, planes, got)
					}
				}
				copy(want[at:at+stride], main[at:])
				if last := want[at+stride-1]; last>>(width%64) != 0 {
					t.Fatalf("%s: %x in the last word of %d voxels", name, last, width)
				}
			}
			if !slices.Equal(main, want) {
				t.Fatalf("%s: more than a row of each plane is grown", name)
			}
		}
	}
}

// Voxels without a remaining neighbour are removed. If they touch the main component, they join it,
// and the others are counted, for all instructions and any number of words.
func thoseAloneAreTaken(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(6, 6))
	const planes = 3 // only the middle one is changed
	for _, name := range isa.Available(assembled) {
		for n := range times {
			width, rows, corners := 1+rng.Int64N(700), 1+rng.Int64N(5), n%2 > 0
			stride := width/64 + 1
			plane := (rows + 2) * stride
			size := 1 + planes*plane + 1
			left, main := make([]uint64, size), make([]uint64, size)
			row := func(z, y int64) int64 { return 1 + z*plane + (y+1)*stride }
			few, seldom := 2+rng.IntN(30), 1+rng.IntN(12)
			for z := range int64(planes) {
				for y := range rows {
					for x := range width {
						switch {
						case rng.IntN(few) == 0:
							set(left[row(z, y):], x)
						case rng.IntN(seldom) == 0:
							set(main[row(z, y):], x)
						}
					}
				}
			}
			touches := func(of []uint64, z, y, x int64) bool { // a neighbour
				for dz := int64(-1); dz <= 1; dz++ {
					for dy := int64(-1); dy <= 1; dy++ {
						for dx := int64(-1); dx <= 1; dx++ {
							far := dz*dz + dy*dy + dx*dx
							if far == 0 || far > 1 && !corners || y+dy < 0 || y+dy >= rows || x+dx < 0 || x+dx >= width {
								continue
							}
							if of[row(z+dz, y+dy)+(x+dx)/64]>>((x+dx)%64)&1 != 0 {
								return true
							}
						}
					}
				}
				return false
			}
			wantLeft, wantMain, want := slices.Clone(left), slices.Clone(main), int64(0)
			for y := range rows {
				for x := range width {
					at, bit := row(1, y)+x/64, uint64(1)<<(x%64)
					if left[at]&bit == 0 || touches(left, 1, y, x) {
						continue
					}
					wantLeft[at] &^= bit
					if touches(main, 1, y, x) {
						wantMain[at] |= bit
					} else {
						want++
					}
				}
			}
			k := floodKernelOf(name)
			alone := k.aloneFaces
			if corners {
				alone = k.aloneCorners
			}
			got := alone(main, left, row(1, 0), rows*stride, stride, plane)
			if got != want || !slices.Equal(left, wantLeft) || !slices.Equal(main, wantMain) {
				t.Fatalf("%s, %d rows of %d, corners %v: %d alone, want %d, or other voxels than those",
					name, rows, width, corners, got, want)
			}
		}
	}
}

func set(row []uint64, x int64) { row[x/64] |= 1 << (x % 64) }
