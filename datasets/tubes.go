package datasets

import (
	"math"

	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

func tubesGenerator() generator {
	return newGenerator("tubes",
		"bright vessels that wind through a dark image; with truth=1 0 within them, 1 elsewhere",
		"tubes/shape=512x512/levels=256/type=uint8/n=8/rmin=1.5/rmax=6/shade=0.5/contrast=0.5/seed=7", []Param{
			shapeParam(), levelsParam(), typeParam(),
			{"lo", "0", "float32: the lowest level"},
			{"step", "the power of two that keeps values below 1", "float32: the distance between levels"},
			{"n", "8", "tubes, 1 to 1000"},
			{"rmin", "1.5", "radius of the thinnest in voxels, from 0.5 on"},
			{"rmax", "6", "radius of the thickest, up to 64"},
			{"bend", "0.05", "how much a centre line turns from voxel to voxel, in radians, 0 to 1"},
			{"blur", "1", "voxels over which a wall goes from bright to dark, to either side, 0 to 16"},
			{"noise", "0.05", "largest noise, as a share of the brightest, 0 to 1"},
			{"shade", "0", "share of the light that is lost along x, from the first voxel to the last, 0 to 1"},
			{"contrast", "0", "share of its light that a tube may lack, 0 to 1: of each another, at random"},
			{"truth", "0", "1 for what the tubes are: two levels, 0 within a tube and 1 elsewhere"},
			seedParam(),
		}, readTubes)
}

// fine is the number of units of a tube's coordinates per voxel, and full the brightest value. All
// arithmetic is on integers.
const (
	fine     = 256
	full     = 1 << 16
	mostBlur = 16
)

// readTubes makes tubes: unions of balls along centre lines. A centre line starts at a random
// place, and turns a little at each voxel, in both directions until it leaves the image.
func readTubes(r *reading) maker {
	t := &tubes{shape: r.shape()}
	n, s := r.scale()
	share := func(key string, def, lo, hi float64) float64 {
		v := r.real(key, def, true)
		if v < lo || v > hi {
			r.reject("%s=%v: want %v to %v", key, v, lo, hi)
			return def
		}
		return v
	}
	count := r.integer("n", 8, 1, 1000, "")
	thin, thick := share("rmin", 1.5, 0.5, 64), share("rmax", 6, 0.5, 64)
	if thin > thick {
		r.reject("rmin=%v: want at most rmax, %v", thin, thick)
	}
	bend := share("bend", 0.05, 0, 1)
	t.blur = int64(math.Round(share("blur", 1, 0, mostBlur) * fine))
	t.noise = int64(math.Round(share("noise", 0.05, 0, 1) * full))
	t.shade = int64(math.Round(share("shade", 0, 0, 1) * full))
	contrast := share("contrast", 0, 0, 1)
	t.truth = r.integer("truth", 0, 0, 1, "") == 1
	t.random = random.NewLattice(r.seed(), random.TubesStream)
	t.levels = n
	return func() (grid.Source, error) {
		if t.truth {
			ladder, err := grid.Affine(0, 1, 2)
			if err != nil {
				return nil, err
			}
			s = random.Scale{Typ: s.Typ, Ladder: ladder}
		}
		s.Prepare()
		t.grow(count, int64(math.Round(thin*fine)), int64(math.Round(thick*fine)), int64(math.Round(bend*full)),
			int64(math.Round(contrast*full)))
		return &image{shape: t.shape, scale: s, levels: t.row}, nil
	}
}

// A bead is a ball of a tube.
type bead struct {
	x, y, z int64 // in units of a voxel
	tube    *tube
}

type tube struct{ radius, light int64 }

type tubes struct {
	shape       grid.Shape
	levels      int64
	blur        int64
	noise       int64
	shade       int64
	truth       bool
	random      random.Lattice
	slices      [][]bead // that reach each slice
	numbersUsed uint32
}

// next returns a random number from lo to hi, both included.
func (t *tubes) next(lo, hi int64) int64 {
	c := t.random.Block([4]uint32{t.numbersUsed, 0, math.MaxUint32, t.random.Tag}) // a counter that no voxel has
	t.numbersUsed++
	return lo + int64(uint64(c[0])*uint64(hi-lo+1)>>32)
}

// grow makes the balls of all tubes.
func (t *tubes) grow(count, thin, thick, bend, contrast int64) {
	size := [3]int64{t.shape.W * fine, t.shape.H * fine, t.shape.D * fine}
	dim := t.shape.Dim()
	t.numbersUsed = 0
	beyond := thick + mostBlur*fine // the same for every blur, so that walks do not depend on it
	t.slices = make([][]bead, t.shape.Slices())
	for range count {
		k := &tube{radius: t.next(thin, thick), light: full - t.next(0, full)*contrast/full}
		var start, heading [3]int64
		for a := range dim {
			start[a], heading[a] = t.next(0, size[a]-1), t.next(-full, full)
		}
		t.add(start, k)
		for _, sign := range []int64{1, -1} {
			at, to := start, unit(heading)
			for a := range to {
				to[a] *= sign
			}
			for range 2 * (t.shape.W + t.shape.H + t.shape.D) { // a tube may wind in a circle
				for a := range dim {
					to[a] += t.next(-bend, bend)
				}
				to = unit(to)
				outside := false
				for a := range dim {
					at[a] += to[a] * fine / full
					outside = outside || at[a] < -beyond || at[a] > size[a]+beyond
				}
				if outside {
					break
				}
				t.add(at, k)
			}
		}
	}
}

// unit scales a direction to about the length full.
func unit(d [3]int64) [3]int64 {
	length := root(d[0]*d[0] + d[1]*d[1] + d[2]*d[2])
	if length == 0 {
		return [3]int64{full, 0, 0}
	}
	for a := range d {
		d[a] = d[a] * full / length
	}
	return d
}

// root returns the square root, rounded down.
func root(n int64) int64 {
	r := int64(math.Sqrt(float64(n)))
	for r*r > n {
		r--
	}
	for (r+1)*(r+1) <= n {
		r++
	}
	return r
}

// add adds a ball to the slices that it reaches.
func (t *tubes) add(at [3]int64, k *tube) {
	slowest := at[1]
	if t.shape.D > 1 {
		slowest = at[2]
	}
	reach := k.radius + t.blur
	for i := max(0, (slowest-reach)/fine-1); i <= min(int64(len(t.slices))-1, (slowest+reach)/fine); i++ {
		t.slices[i] = append(t.slices[i], bead{at[0], at[1], at[2], k})
	}
}

// row computes the levels of a row from a voxel on. Centres of voxels are half a voxel from their
// corners.
func (t *tubes) row(dst []uint32, x, y, z int64) {
	slice := y
	cz := int64(0) // in 2D all centres are in one plane
	if t.shape.D > 1 {
		slice, cz = z, z*fine+fine/2
	}
	cy := y*fine + fine/2
	light := make([]int64, len(dst))
	for _, b := range t.slices[slice] {
		reach := b.tube.radius + t.blur
		dz, dy := b.z-cz, b.y-cy
		if max(dz, -dz, dy, -dy) > reach {
			continue
		}
		lo, hi := max(x, (b.x-reach)/fine-1), min(x+int64(len(dst))-1, (b.x+reach)/fine)
		for i := lo; i <= hi; i++ {
			dx := b.x - (i*fine + fine/2)
			square := dx*dx + dy*dy + dz*dz
			v := int64(0)
			switch {
			case t.truth && square <= b.tube.radius*b.tube.radius:
				v = full // for every brightness
			case t.truth:
			case t.blur == 0 && square <= reach*reach:
				v = b.tube.light
			case square < reach*reach:
				v = b.tube.light * min(2*t.blur, reach-root(square)) / (2 * t.blur)
			}
			light[i-x] = max(light[i-x], v)
		}
	}
	if t.truth {
		for i, v := range light {
			dst[i] = 1
			if v > 0 {
				dst[i] = 0
			}
		}
		return
	}
	t.random.Fill(dst, x, y, z)
	for i, v := range light {
		v = v * (full - t.shade*(x+int64(i))/max(1, t.shape.W-1)) / full
		v += t.noise * (int64(dst[i]>>15) - full) / full // from −noise to +noise
		dst[i] = uint32(max(0, min(full-1, v)) * t.levels / full)
	}
}
