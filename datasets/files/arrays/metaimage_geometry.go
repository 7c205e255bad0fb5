package arrays

import "eccbench/datasets/files/format"

// metaGeometry returns the geometry of a MetaImage header, whose space is left, posterior,
// superior; without a place if it has neither directions nor an origin.
func metaGeometry(in format.Input) (*format.Geometry, error) {
	fields, _, _, err := metaFields(in)
	if err != nil {
		return nil, err
	}
	values := func(keys ...string) []float64 {
		for _, key := range keys {
			if v := numbersOf(fields.Values[key]); v != nil {
				return v
			}
		}
		return nil
	}
	spacing, unit := values("ElementSpacing", "ElementSize"), millimetres(fields.Values["DistanceUnits"])
	n := len(spacing)
	turn, origin := values("TransformMatrix", "Rotation", "Orientation"), values("Offset", "Position", "Origin")
	placed := turn != nil || origin != nil
	if len(turn) != n*n {
		turn = make([]float64, n*n)
		for axis := range n {
			turn[n*axis+axis] = 1
		}
	}
	for r := range origin {
		origin[r] *= unit
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
		if g.Unplaced = !placed; !g.Unplaced {
			g.Mirror(0, 1)
		}
	}
	return g, nil
}
