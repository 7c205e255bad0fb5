package ecc_test

import (
	"errors"
	"testing"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// If an implementation rejects a derived image, no law counts this as a contradiction.
func TestRefusedDerivedImages(t *testing.T) {
	refusal := errors.New("it is too large")
	for _, name := range []string{"noise/shape=5x4x6/levels=9/type=uint8/seed=1", "noise/shape=7x6/levels=9/type=float32/seed=1"} {
		f := image(t, name)
		right := ecc.Enumerate(f)
		asked := 0
		refuse := func(grid.Source) (ecc.VCEC, error) { asked++; return nil, refusal }
		for _, law := range ecc.Laws() {
			before := asked
			d, err := law.Check(f, right, refuse)
			if d != nil {
				t.Errorf("%s: %s: %v", name, law.Name, d)
			}
			if asked > before && !errors.Is(err, refusal) {
				t.Errorf("%s: %s asked, was refused, and says %v", name, law.Name, err)
			}
			if law.Calls > 0 && asked == before && !errors.Is(err, verify.ErrNotApplicable) {
				t.Errorf("%s: %s asked nothing: %v", name, law.Name, err)
			}
		}
		evidence := ecc.Policy().Check(verify.Question[grid.Source, ecc.VCEC]{Name: name, In: f, Out: right, Thorough: true, Budget: time.Hour, Ask: refuse})
		notes := 0
		for _, e := range evidence {
			if e.Note == "not tried: it is too large" && !e.Passed {
				notes++
			}
		}
		if v := verify.Judge([]string{name}, evidence); v.Status != verify.Verified || notes < 3 {
			t.Errorf("%s: %s (%s), %d laws were refused", name, v.Status, v.Reason, notes)
		}
	}
}

// In an image of several slabs, each of several stretches, the first voxel on a level is found
// anywhere; its absence is reported.
func TestNeighbourhoodOfALargeImage(t *testing.T) {
	shape := grid.Shape{D: 200, H: 300, W: 300}
	data := make([]byte, shape.Voxels())
	data[len(data)-1] = 1
	f, err := grid.NewField(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	d := ecc.Policy().Agree(struct{ grid.Source }{f}, ecc.VCEC{{Level: 1, Change: 1}}, nil)
	if want := "levels around the first voxel on it, z 199 y 299 x 299:\n  0 0 . / 0 0 . / . . .\n  0 0 . / 0 1 . / . . ."; d == nil || d.Context != want {
		t.Errorf("%v, want %q", d, want)
	}
	wide, err := grid.NewField(grid.Shape{D: 1, H: 300, W: 300}, grid.Uint16, grid.NewBuffer(2*300*300), grid.Identity(grid.Uint16))
	if err != nil {
		t.Fatal(err)
	}
	if d := ecc.Policy().Agree(wide, ecc.VCEC{{Level: 1, Change: 1}}, nil); d == nil || d.Context != "no voxel stands on this level" {
		t.Errorf("%v", d)
	}
}
