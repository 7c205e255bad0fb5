package datasets

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// levelsOf returns the levels of an image.
func levelsOf(t *testing.T, name string) (grid.Shape, []int32) {
	t.Helper()
	return openNamed(t, name).Shape(), imageLevels(t, openNamed(t, name))
}

// Tubes are bright where their truth is, for any shape, and a single slab has the bytes of the
// whole.
func TestTubes(t *testing.T) {
	for _, shape := range []string{"96x80", "48x40x36", "1x50x9", "70x1"} {
		base := fmt.Sprintf("tubes/shape=%s/type=uint8/n=5/rmax=4/noise=0/seed=3", shape)
		_, truth := levelsOf(t, base+"/truth=1")
		_, sharp := levelsOf(t, base+"/blur=0")
		_, soft := levelsOf(t, base)
		inside := 0
		for i, k := range truth {
			if k == 0 {
				inside++
			}
			if (k == 0) != (sharp[i] > 128) {
				t.Fatalf("%s: voxel %d is %d, of the truth %d", base, i, sharp[i], k)
			}
			// If a wall is soft, the brightness is halved at the wall.
			if k == 0 && soft[i] < 127 || k == 1 && soft[i] > 128 {
				t.Fatalf("%s: voxel %d is %d with soft walls, of the truth %d", base, i, soft[i], k)
			}
		}
		if inside == 0 || inside > len(truth)/2 && shape != "70x1" {
			t.Errorf("%s: %d of %d voxels are within tubes", base, inside, len(truth))
		}
		s := openNamed(t, strings.Replace(base, "/noise=0", "/noise=0.1", 1))
		data := load(t, s)
		lo := s.Shape().Slices() / 3
		part := grid.NewBuffer((s.Shape().Slices() - lo) * grid.SliceBytes(s))
		if err := s.ReadSlab(part, lo, s.Shape().Slices()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(part, data[lo*grid.SliceBytes(s):]) {
			t.Errorf("%s: a slab alone has other bytes", base)
		}
	}
}

// Shading reduces brightness along x, and contrast that of some tubes. The truth has neither.
func TestTubesShading(t *testing.T) {
	const base = "tubes/shape=200x100/type=uint8/n=8/blur=0/noise=0/seed=5"
	shape, plain := levelsOf(t, base)
	_, shaded := levelsOf(t, base+"/shade=0.5")
	_, weaker := levelsOf(t, base+"/contrast=1")
	for i, v := range plain {
		x := int64(i) % shape.W
		if want := float64(v) * (1 - 0.5*float64(x)/float64(shape.W-1)); float64(shaded[i]) > want+1 || float64(shaded[i]) < want-1 {
			t.Fatalf("at x %d %d is shaded to %d, want %.1f", x, v, shaded[i], want)
		}
		if weaker[i] > v {
			t.Fatalf("a tube of less light has %d, of %d", weaker[i], v)
		}
	}
	_, one := levelsOf(t, base+"/truth=1")
	_, other := levelsOf(t, base+"/truth=1/contrast=1/shade=1")
	if fmt.Sprint(one) != fmt.Sprint(other) {
		t.Error("the truth depends on the light")
	}
}

// Parameters without valid tubes are rejected.
func TestTubesRefused(t *testing.T) {
	for name, want := range map[string]string{
		"tubes/shape=9x9/rmin=7/rmax=6": "rmin=7: want at most rmax, 6",
		"tubes/shape=9x9/bend=2":        "bend=2: want 0 to 1",
		"tubes/shape=9x9/n=0":           "want 1 to 1000",
		"tubes/shape=9x9/truth=2":       "want 0 to 1",
	} {
		if _, err := Open(name); err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
