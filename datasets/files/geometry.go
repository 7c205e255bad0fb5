package files

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"eccbench/datasets/storage"
)

// A Geometry is the position of a file's voxels in space, from its header.
type Geometry struct {
	// Affine maps the indices x, y, z and 1 to millimetres: right, anterior, superior.
	Affine [3][4]float64
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

// Differs returns an error if another geometry differs by more than geometryTolerance.
func (g Geometry) Differs(o Geometry) error {
	s := g.Spacing()
	least := min(s[0], s[1], s[2])
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

// GeometryOf reads the geometry of a NIfTI, NRRD or MetaImage file; nil if the file has none or
// another format.
func GeometryOf(path string) (*Geometry, error) {
	files := &storage.Set{}
	defer files.Close() // only the header is read
	if IsZarr(path) || isZarrName(path) {
		return nil, nil
	}
	f, size, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	in := fileInput{ReaderAt: f, size: size, files: files}
	switch lower := strings.ToLower(path); {
	case strings.HasSuffix(lower, ".nii"), strings.HasSuffix(lower, ".nii.gz"), strings.HasSuffix(lower, ".hdr"):
		head, _, err := niftiHead(in)
		if err != nil || len(head) < niftiHeaderSize {
			return nil, err
		}
		return niftiGeometry(head), nil
	case strings.HasSuffix(lower, ".nrrd"), strings.HasSuffix(lower, ".nhdr"):
		fields, _, _, err := nrrdFields(in)
		if err != nil {
			return nil, err
		}
		return nrrdGeometry(fields.values), nil
	case strings.HasSuffix(lower, ".mha"), strings.HasSuffix(lower, ".mhd"):
		return in.metaGeometry()
	}
	return nil, nil
}

// niftiGeometry returns the geometry of a header: its sform, else its qform, else its spacing.
func niftiGeometry(head []byte) *Geometry {
	order, size := niftiOrder(head)
	single := func(at int) float64 { return float64(math.Float32frombits(order.Uint32(head[at:]))) }
	pixdim, quaternion, offset, row, step := 76, 256, 268, 280, 4
	qform, sform, unit := order.Uint16(head[252:]), order.Uint16(head[254:]), head[123]
	if size == nifti2HeaderSize {
		if len(head) < nifti2HeaderSize {
			return nil
		}
		single = func(at int) float64 { return math.Float64frombits(order.Uint64(head[at:])) }
		pixdim, quaternion, offset, row, step = 104, 352, 376, 400, 8
		qform, sform = uint16(order.Uint32(head[344:])), uint16(order.Uint32(head[348:]))
		unit = byte(order.Uint32(head[500:]))
	}
	g := &Geometry{}
	var spacing [4]float64
	for i := range spacing {
		spacing[i] = single(pixdim + step*i)
	}
	switch {
	case sform > 0:
		for r := range 3 {
			for c := range 4 {
				g.Affine[r][c] = single(row + step*(4*r+c))
			}
		}
	case qform > 0:
		b, c, d := single(quaternion), single(quaternion+step), single(quaternion+2*step)
		a := math.Sqrt(max(0, 1-b*b-c*c-d*d))
		turn := [3][3]float64{
			{a*a + b*b - c*c - d*d, 2 * (b*c - a*d), 2 * (b*d + a*c)},
			{2 * (b*c + a*d), a*a + c*c - b*b - d*d, 2 * (c*d - a*b)},
			{2 * (b*d - a*c), 2 * (c*d + a*b), a*a + d*d - b*b - c*c},
		}
		if spacing[0] < 0 { // the handedness
			spacing[3] = -spacing[3]
		}
		for r := range 3 {
			for c := range 3 {
				g.Affine[r][c] = turn[r][c] * spacing[c+1]
			}
			g.Affine[r][3] = single(offset + step*r)
		}
	default:
		for r := range 3 {
			g.Affine[r][r] = spacing[r+1]
		}
	}
	g.scale(unit)
	return g.valid()
}

// scale converts lengths in the unit of a NIfTI header to millimetres.
func (g *Geometry) scale(unit byte) {
	millimetres := 1.0
	switch unit & 7 { // the other bits are the unit of time
	case 1: // metres
		millimetres = 1e3
	case 3: // micrometres
		millimetres = 1e-3
	}
	for r := range g.Affine {
		for c := range g.Affine[r] {
			g.Affine[r][c] *= millimetres
		}
	}
}

// valid returns the geometry, or nil if an axis has no length.
func (g *Geometry) valid() *Geometry {
	for _, s := range g.Spacing() {
		if !(s > 0) || math.IsInf(s, 0) {
			return nil
		}
	}
	return g
}

// nrrdGeometry returns the geometry in a header's fields; nil without directions or spacings of
// three axes.
func nrrdGeometry(values map[string]string) *Geometry {
	g := &Geometry{}
	if directions, ok := values["space directions"]; ok {
		axes := strings.Fields(strings.ReplaceAll(directions, "none", ""))
		if len(axes) != 3 {
			return nil
		}
		for c, axis := range axes {
			v := nrrdVector(axis)
			if v == nil {
				return nil
			}
			for r := range 3 {
				g.Affine[r][c] = v[r]
			}
		}
		if v := nrrdVector(values["space origin"]); v != nil {
			for r := range 3 {
				g.Affine[r][3] = v[r]
			}
		}
	} else {
		spacings := numbersOf(values["spacings"])
		if len(spacings) != 3 {
			return nil
		}
		for r := range 3 {
			g.Affine[r][r] = spacings[r]
		}
	}
	space := strings.ToLower(values["space"])
	if space == "lps" || strings.HasPrefix(space, "left-posterior-superior") {
		g.mirror()
	}
	return g.valid()
}

// mirror converts left and posterior to right and anterior.
func (g *Geometry) mirror() {
	for r := range 2 {
		for c := range 4 {
			g.Affine[r][c] = 0 - g.Affine[r][c]
		}
	}
}

// nrrdVector parses "(1,0,0)"; nil if the text is no vector of three numbers.
func nrrdVector(text string) []float64 {
	inner, ok := strings.CutPrefix(strings.ReplaceAll(text, " ", ""), "(")
	v := numbersOf(strings.ReplaceAll(strings.TrimSuffix(inner, ")"), ",", " "))
	if !ok || len(v) != 3 {
		return nil
	}
	return v
}

// numbersOf parses numbers between spaces; nil if one is invalid.
func numbersOf(text string) (list []float64) {
	for _, word := range strings.Fields(text) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) {
			return nil
		}
		list = append(list, v)
	}
	return list
}

// metaGeometry returns the geometry of a MetaImage header, whose space is left, posterior,
// superior.
func (in fileInput) metaGeometry() (*Geometry, error) {
	h := in.headerLines(metaHeaderLimit)
	values := map[string][]float64{}
	for {
		line, end, err := h.next()
		if err != nil {
			return nil, err
		}
		key, value, _ := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); end || key == "ElementDataFile" {
			break
		}
		values[key] = numbersOf(value)
	}
	spacing := values["ElementSpacing"]
	if spacing == nil {
		spacing = values["ElementSize"]
	}
	if len(spacing) != 3 {
		return nil, nil
	}
	turn := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	for _, key := range []string{"TransformMatrix", "Rotation", "Orientation"} {
		if v := values[key]; len(v) == 9 {
			turn = v
			break
		}
	}
	g := &Geometry{}
	for r := range 3 {
		for c := range 3 {
			g.Affine[r][c] = turn[3*c+r] * spacing[c]
		}
		for _, key := range []string{"Offset", "Position", "Origin"} {
			if v := values[key]; len(v) == 3 {
				g.Affine[r][3] = v[r]
				break
			}
		}
	}
	g.mirror()
	return g.valid(), nil
}
