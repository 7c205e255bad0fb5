package arrays

import (
	"strings"

	"eccbench/datasets/files/format"
)

// metaGeometry returns the geometry of a MetaImage header, whose space is left, posterior,
// superior.
func metaGeometry(in format.Input) (*format.Geometry, error) {
	h := in.HeaderLines(metaHeaderLimit)
	values := map[string][]float64{}
	for {
		line, end, err := h.Next()
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
	g := &format.Geometry{}
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
	g.Mirror()
	return g.Valid(), nil
}
