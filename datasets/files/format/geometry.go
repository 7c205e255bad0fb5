package format

import (
	"fmt"
	"math"
	"slices"
)

// A Geometry is the position of a file's voxels in space, from its header.
type Geometry struct {
	// Affine maps the indices x, y, z and 1 to millimetres: right, anterior, superior.
	Affine [3][4]float64
	// Unplaced is set if the header has no place but spacings, which are the diagonal of Affine.
	Unplaced bool
	// Flat is set for two axes: the third column of Affine is made up, and so may the third row be.
	Flat bool
}

// NewGeometry returns the geometry of two or three axes (more are ignored): columns are the steps
// along them in two or three dimensions, and origin is the place of the first voxel, or nil. Pixels
// are 1 mm thick. The geometry is nil if axes are missing, or have no length.
func NewGeometry(columns [][]float64, origin []float64) *Geometry {
	if len(columns) < 2 {
		return nil
	}
	g := &Geometry{Flat: len(columns) == 2}
	for c, v := range columns[:min(3, len(columns))] {
		for r := range min(3, len(v)) {
			g.Affine[r][c] = v[r]
		}
	}
	if a := &g.Affine; g.Flat { // the normal
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
// place differs by its spacings alone. A third axis that one of them lacks is not compared, nor is
// the place along it, if a flat one has it at 0.
func (g Geometry) Differs(o Geometry) error {
	s, w := g.Spacing(), o.Spacing()
	flat, axes := g.Flat || o.Flat, 3
	if flat {
		axes = 2
	}
	most := geometryTolerance * slices.Min(s[:axes])
	if g.Unplaced || o.Unplaced {
		for axis, v := range s[:axes] {
			if math.Abs(v-w[axis]) > most {
				return fmt.Errorf("spacings along %c differ: %g and %g; resample one of the images", "xyz"[axis], v, w[axis])
			}
		}
		return nil
	}
	level := g.Flat && g.Affine[2][3] == 0 || o.Flat && o.Affine[2][3] == 0
	for r, row := range g.Affine {
		for c, v := range row {
			if flat && c == 2 || level && r == 2 && c == 3 {
				continue
			}
			if w := o.Affine[r][c]; math.Abs(v-w) > most {
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

// Mirror reverses axes of space (0 to 2), such as left and posterior to right and anterior by 0 and
// 1.
func (g *Geometry) Mirror(axes ...int) {
	for _, r := range axes {
		for c := range 4 {
			g.Affine[r][c] = 0 - g.Affine[r][c]
		}
	}
}
