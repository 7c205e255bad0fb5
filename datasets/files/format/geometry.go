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

// NewGeometry returns the geometry of two or three axes (more are ignored): columns are the steps along them in two or
// three dimensions, and origin is the place of the first voxel, or nil. Pixels are 1 mm thick. The geometry is nil if
// axes are missing, or have no length.
func NewGeometry(columns [][]float64, origin []float64) *Geometry {
	if len(columns) < 2 {
		return nil
	}
	g := &Geometry{}
	for c, v := range columns[:min(3, len(columns))] {
		for r := range min(3, len(v)) {
			g.Affine[r][c] = v[r]
		}
	}
	if a := &g.Affine; len(columns) == 2 { // the normal
		for r := range 3 {
			s, t := (r+1)%3, (r+2)%3
			a[r][2] = a[s][0]*a[t][1] - a[t][0]*a[s][1]
		}
		length := math.Copysign(g.Spacing()[2], a[2][2]) // up, as in NIfTI files of 2D images
		for r := range 3 {
			a[r][2] /= length
		}
	}
	for r := range min(3, len(origin)) {
		g.Affine[r][3] = origin[r]
	}
	return g.Valid()
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
