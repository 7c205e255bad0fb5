package arrays

import (
	"strings"

	"eccbench/datasets/files/format"
)

// metaGeometry returns the geometry of a MetaImage header, whose space is left, posterior,
// superior; without a place if it has neither directions nor an origin.
func metaGeometry(in format.Input) (*format.Geometry, error) {
	h := in.HeaderLines(metaHeaderLimit)
	values, unit := map[string][]float64{}, 1.0
	for {
		line, end, err := h.Next()
		if err != nil {
			return nil, err
		}
		key, value, _ := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); end || key == "ElementDataFile" {
			break
		}
		if key == "DistanceUnits" {
			unit = millimetres(value)
		}
		values[key] = numbersOf(value)
	}
	spacing := values["ElementSpacing"]
	if spacing == nil {
		spacing = values["ElementSize"]
	}
	n := len(spacing)
	turn, origin, placed := make([]float64, n*n), []float64(nil), false
	for axis := range n {
		turn[n*axis+axis] = 1
	}
	for _, key := range []string{"TransformMatrix", "Rotation", "Orientation"} {
		if v := values[key]; len(v) == n*n {
			turn, placed = v, true
			break
		}
	}
	for _, key := range []string{"Offset", "Position", "Origin"} {
		if v := values[key]; len(v) == n {
			for _, x := range v {
				origin = append(origin, x*unit)
			}
			break
		}
	}
	var columns [][]float64
	for axis, step := range spacing {
		column := make([]float64, n)
		for r := range n {
			column[r] = turn[n*axis+r] * step * unit
		}
		columns = append(columns, column)
	}
	g := format.NewGeometry(columns, origin)
	if g != nil {
		if g.Unplaced = !placed && origin == nil; !g.Unplaced {
			g.Mirror(0, 1)
		}
	}
	return g, nil
}
