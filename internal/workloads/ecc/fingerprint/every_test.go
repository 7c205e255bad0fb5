package fingerprint_test

import (
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// The fingerprint of a float32 image on the ladder of every float32 agrees with the enumeration of
// all cells. That uses the ladder of the image's values. The keys use either half of a block.
func TestEveryFloat32(t *testing.T) {
	for _, c := range ecctest.Cases(t) {
		if c.Field.Type() != grid.Float32 || c.Field.Shape().Voxels() > 1<<16 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			values := grid.Values[float32](c.Field.Data())
			distinct := slices.Clone(values)
			slices.Sort(distinct)
			table, err := grid.Table(slices.Compact(distinct))
			if err != nil {
				t.Fatal(err)
			}
			on := func(l grid.Ladder) *grid.Field {
				f, err := grid.Trusted(c.Field.Shape(), grid.Float32, c.Field.Data(), l)
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			want := ecc.Enumerate(on(table))
			for i, s := range want {
				want[i].Level = int64(grid.EveryLevel(table.Value(s.Level)))
			}
			held(t, on(grid.Identity(grid.Float32)), want, fingerprint.Draw(3))
		})
	}
}
