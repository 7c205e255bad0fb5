package datasets

import (
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/grid/gridtest"

	"os"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/vectors"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks returns the checks of generators, whose images are the same on every machine.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "stored images", Of: storesImages},
		{Name: "stored images that are refused", Of: refusesStored},
		{Name: "names with other values", Of: namesWithOthers},
		{Name: "generators", Of: generates},
		{Name: "slabs of generated images", Of: slabsOfTiles},
		{Name: "slabs that are refused", Of: refusesSlabs},
		{Name: "rolled images", Of: rolls},
		{Name: "repeated images", Of: repeats},
		{Name: "variants", Of: hasVariants},
		{Name: "other seeds", Of: hasOtherSeeds},
	}
}

// mostGenerated is the greatest number of voxels of generated images in checks. They have fewer
// than 2²⁴ levels, because more take longer to list.
const mostGenerated = 1 << 14

// generates compares generated images with their hashes. A line has a hash, a name, and an optional
// range of slices.
func generates(t *testing.T) {
	list, err := os.ReadFile("testdata/digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSpace(line)
		want, what, _ := strings.Cut(line, " ")
		if line == "" || strings.HasPrefix(line, "#") || strings.Contains(what, " ") || strings.Contains(what, "levels=16777216/") {
			continue
		}
		if got, err := Canonical(what); err != nil || got != what {
			t.Fatalf("%s is not canonical: %s, %v", what, got, err)
		}
		n, err := split(what)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range vectors.Available() {
			r, err := resolveOn(n, format.Options{}, set)
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.open()
			if err != nil {
				t.Fatal(err)
			}
			if s.Shape().Voxels() > mostGenerated {
				break
			}
			if got, err := gridtest.Digest(s); err != nil || got != want {
				t.Fatalf("%s by %s: digest %s, want %s (%v)", what, set, got, want, err)
			}
		}
	}
}
