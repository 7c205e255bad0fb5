package arrays

import (
	"math"
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

// nrrdGeometry returns the geometry in a header's fields; nil without directions or spacings of
// three axes.
func nrrdGeometry(values map[string]string) *format.Geometry {
	g := &format.Geometry{}
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
		g.Mirror()
	}
	return g.Valid()
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
		v, err := decimal.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) {
			return nil
		}
		list = append(list, v)
	}
	return list
}
