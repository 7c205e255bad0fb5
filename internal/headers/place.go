package headers

import (
	"fmt"
	"math"
	"strings"
)

// A Place is the position of an image's voxels in space.
type Place struct {
	// Affine maps x, y, z and 1 to millimetres: right, anterior, superior.
	Affine [3][4]float64
	// Unplaced is set if only the spacings are known. They are the diagonal of Affine.
	Unplaced bool
}

// spacing returns the distance of neighbouring voxels along an axis.
func (p *Place) spacing(axis int) float64 {
	return math.Hypot(math.Hypot(p.Affine[0][axis], p.Affine[1][axis]), p.Affine[2][axis])
}

// Axes returns the number of axes that a file needs for an image of 2 or 3 axes: 3 for a 2D image
// that leaves the plane z = 0, else those of the image. p may be nil.
func (p *Place) Axes(axes int) int {
	if p == nil || p.Unplaced || p.Affine[2][0] == 0 && p.Affine[2][1] == 0 && p.Affine[2][3] == 0 {
		return axes
	}
	return 3
}

// column returns the first components of a column of Affine times a scale, in the space of NRRD and
// MetaImage files: left, posterior, superior.
func (p *Place) column(c, axes int, scale float64, separator string) string {
	var words []string
	for r, sign := range []float64{-1, -1, 1}[:axes] {
		words = append(words, fmt.Sprintf("%g", 0+sign*p.Affine[r][c]*scale))
	}
	return strings.Join(words, separator)
}

// Nrrd returns the lines of an NRRD header for Axes(axes) axes of space, and others after them.
func (p *Place) Nrrd(axes, others int) string {
	if p == nil {
		return ""
	}
	axes = p.Axes(axes)
	list := ""
	if p.Unplaced {
		for c := range axes {
			list += fmt.Sprintf(" %g", p.spacing(c))
		}
		return "spacings:" + list + strings.Repeat(" nan", others) + "\n"
	}
	for c := range axes {
		list += " (" + p.column(c, axes, 1, ",") + ")"
	}
	space := "space: left-posterior-superior"
	if axes == 2 {
		space = "space dimension: 2"
	}
	return fmt.Sprintf("%s\nspace directions:%s%s\nspace origin: (%s)\n", space, list, strings.Repeat(" none", others),
		p.column(3, axes, 1, ","))
}

// MetaImage returns the lines of a MetaImage header for Axes(axes) axes.
func (p *Place) MetaImage(axes int) string {
	if p == nil {
		return "ElementSpacing =" + strings.Repeat(" 1", axes) + "\n"
	}
	axes = p.Axes(axes)
	spacing, turn := "ElementSpacing =", "TransformMatrix ="
	for c := range axes {
		spacing += fmt.Sprintf(" %g", p.spacing(c))
		turn += " " + p.column(c, axes, 1/p.spacing(c), " ")
	}
	if p.Unplaced {
		return spacing + "\n"
	}
	return fmt.Sprintf("%s\n%s\nOffset = %s\n", spacing, turn, p.column(3, axes, 1, " "))
}
