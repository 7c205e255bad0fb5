package arrays

import (
	"math"
	"slices"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/internal/decimal"
)

// nrrdGeometryOf returns the geometry in the header of a file.
func nrrdGeometryOf(in format.Input) (*format.Geometry, error) {
	fields, _, _, err := nrrdFields(in)
	if err != nil {
		return nil, err
	}
	return nrrdGeometry(fields.Values), nil
}

// nrrdGeometry returns the geometry in a header's fields; nil without directions or spacings of the
// axes of an image, or if they are in units that are not of length.
func nrrdGeometry(values map[string]string) *format.Geometry {
	directions, directed := values["space directions"]
	words, units := strings.Fields(values["spacings"]), nrrdStrings(values["units"])
	if directed || units == nil {
		units = nrrdStrings(values["space units"])
	}
	if directed {
		words = strings.Fields(strings.ReplaceAll(directions, "none", ""))
	}
	sizes, _ := format.WholeNumbers(values["sizes"])
	slices.Reverse(sizes)
	outer, space, inner, err := format.SplitAxes(nrrdAxes(values["kinds"], sizes))
	spatial := min(len(sizes), 3)
	if n := len(outer) + len(space) + len(inner); len(space) > 0 && n == len(sizes) {
		spatial = len(space)
		if len(words) == n {
			words = words[len(inner):][:spatial]
		}
		if !directed && len(units) == n {
			units = units[len(inner):]
		}
	}
	if err != nil || len(words) != spatial {
		return nil
	}
	scale := func(v []float64) []float64 { // the units are those of the rows of a vector
		for r := range min(len(v), len(units)) {
			v[r] *= millimetres(units[r])
		}
		return v
	}
	columns := nrrdColumns(words, directed)
	if columns == nil {
		return nil
	}
	for _, column := range columns {
		scale(column)
	}
	var origin []float64
	if directed {
		origin = scale(nrrdVector(values["space origin"]))
	}
	g := format.NewGeometry(columns, origin)
	switch n, ok := values["space dimension"]; {
	case g == nil:
	case !directed:
		g.Unplaced = true
	case ok && n != "3":
		g.Mirror(0, 1) // as ITK writes it, which names the space of volumes alone
	default:
		g.Mirror(nrrdMirrored(values["space"])...)
	}
	return g
}

// nrrdColumns parses the direction of each axis, or its spacing; nil if one is missing.
func nrrdColumns(words []string, directed bool) (columns [][]float64) {
	for axis, word := range words {
		column := nrrdVector(word)
		if n := numbersOf(word); !directed && len(n) == 1 {
			column = make([]float64, len(words))
			column[axis] = n[0]
		}
		if column == nil {
			return nil
		}
		columns = append(columns, column)
	}
	return columns
}

// nrrdMirrored returns the axes of a space, such as left-posterior-superior or LPST, that point to
// the left, posterior and inferior.
func nrrdMirrored(space string) (rows []int) {
	letters := strings.ToLower(space)
	if words := strings.Split(letters, "-"); len(words) > 1 {
		letters = ""
		for _, word := range words {
			letters += word[:min(1, len(word))]
		}
	}
	for r, ends := range []string{"rl", "ap", "si"} {
		if r >= len(letters) || !strings.Contains(ends, letters[r:r+1]) {
			return nil // no space of a body
		}
		if letters[r] == ends[1] {
			rows = append(rows, r)
		}
	}
	return rows
}

// nrrdStrings parses strings in quotation marks, or words without any.
func nrrdStrings(text string) (list []string) {
	if !strings.Contains(text, `"`) {
		return strings.Fields(text)
	}
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 {
			list = append(list, part)
		}
	}
	return list
}

// millimetres returns a unit of length in millimetres: 1 if the unit is not known to the writer, NaN
// for one that is not of length.
func millimetres(unit string) float64 {
	singular := strings.NewReplacer("meters", "meter", "metres", "meter", "metre", "meter", "microns", "micron")
	switch singular.Replace(strings.ToLower(strings.TrimSpace(unit))) {
	case "", "?", "???", "mm", "millimeter":
		return 1
	case "um", "µm", "μm", "micron", "micrometer":
		return 1e-3
	case "nm", "nanometer":
		return 1e-6
	case "cm", "centimeter":
		return 10
	case "m", "meter":
		return 1e3
	}
	return math.NaN()
}

// nrrdVector parses "(1,0,0)"; nil if the text is no vector of two numbers or more.
func nrrdVector(text string) []float64 {
	inner, ok := strings.CutPrefix(strings.ReplaceAll(text, " ", ""), "(")
	v := numbersOf(strings.ReplaceAll(strings.TrimSuffix(inner, ")"), ",", " "))
	if !ok || len(v) < 2 {
		return nil
	}
	return v
}

// numbersOf parses numbers between spaces; nil if one is invalid.
func numbersOf(text string) (list []float64) {
	for _, word := range strings.Fields(text) {
		v, err := decimal.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) {
			return nil
		}
		list = append(list, v)
	}
	return list
}
