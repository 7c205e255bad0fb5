package format

import (
	"fmt"
	"math"
)

// A Geometry is the position of a file's voxels in space, from its header.
type Geometry struct {
	// Affine maps the indices x, y, z and 1 to millimetres: right, anterior, superior.
	Affine [3][4]float64
	// Unplaced is set if the header has no place but spacings, which are the diagonal of Affine.
	Unplaced bool
}

// Spacing returns the distance of neighbouring voxels along x, y and z.
func (g Geometry) Spacing() (s [3]float64) {
	for axis := range s {
		for _, row := range g.Affine {
			s[axis] = math.Hypot(s[axis], row[axis])
		}
	}
	return s
}

// geometryTolerance is the largest accepted difference of two numbers of an affine, relative to the
// spacing. Headers round them.
const geometryTolerance = 1e-3

// Differs returns an error if another geometry differs by more than geometryTolerance. One without a
// place differs by its spacings alone.
func (g Geometry) Differs(o Geometry) error {
	s := g.Spacing()
	least := min(s[0], s[1], s[2])
	if g.Unplaced || o.Unplaced {
		for axis, w := range o.Spacing() {
			if v := s[axis]; math.Abs(v-w) > geometryTolerance*least {
				return fmt.Errorf("spacings along %c differ: %g and %g; resample one of the images", "xyz"[axis], v, w)
			}
		}
		return nil
	}
	for r, row := range g.Affine {
		for c, v := range row {
			if w := o.Affine[r][c]; math.Abs(v-w) > geometryTolerance*least {
				return fmt.Errorf("affines differ in row %d, column %d: %g and %g; resample one of the images", r+1,
					c+1, v, w)
			}
		}
	}
	return nil
}

// Valid returns the geometry, or nil if an axis has no length.
func (g *Geometry) Valid() *Geometry {
	for _, s := range g.Spacing() {
		if !(s > 0) || math.IsInf(s, 0) {
			return nil
		}
	}
	return g
}

// Mirror converts left and posterior to right and anterior.
func (g *Geometry) Mirror() {
	for r := range 2 {
		for c := range 4 {
			g.Affine[r][c] = 0 - g.Affine[r][c]
		}
	}
}
