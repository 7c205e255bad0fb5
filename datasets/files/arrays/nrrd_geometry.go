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

// nrrdGeometry returns the geometry in a header's fields; nil without directions or spacings of the
// axes of an image.
func nrrdGeometry(values map[string]string) *format.Geometry {
	directions, directed := values["space directions"]
	words := strings.Fields(values["spacings"])
	if directed {
		words = strings.Fields(strings.ReplaceAll(directions, "none", ""))
	}
	axes, kinds := len(strings.Fields(values["sizes"])), values["kinds"]
	fastest, planes, err := nrrdKinds(kinds, axes)
	spatial := min(axes, 3)
	if axes == 3 && (fastest || planes) {
		spatial = 2
	}
	if len(words) == axes && fastest {
		words = words[1:]
	}
	if len(words) == axes && (planes || nrrdSpace(kinds, axes)) {
		words = words[:spatial]
	}
	if err != nil || len(words) != spatial {
		return nil
	}
	var columns [][]float64
	for axis, word := range words {
		column := nrrdVector(word)
		if n := numbersOf(word); !directed && len(n) == 1 {
			column = append(make([]float64, axis), n[0])
		}
		if column == nil {
			return nil
		}
		columns = append(columns, column)
	}
	g := format.NewGeometry(columns, nrrdVector(values["space origin"]))
	space := strings.ToLower(values["space"])
	lps := space == "lps" || strings.HasPrefix(space, "left-posterior-superior")
	if n, ok := values["space dimension"]; ok && n != "3" {
		lps = true // as ITK writes it, which names the space of volumes alone
	}
	if g != nil && lps {
		g.Mirror()
	}
	return g
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
