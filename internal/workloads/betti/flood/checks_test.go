package flood

import (
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

func TestChecks(t *testing.T) {
	checktest.Run(t, []checktest.Check{
		{Name: "slabs that are filled like voxels", Of: func(t *testing.T) { slabsAreFilledLikeVoxels(t, 0, 0.3, 0.8) }},
		{Name: "parts that are filled like voxels", Of: func(t *testing.T) { partsAreFilledLikeVoxels(t, 0, 0.3, 0.8) }},
		{Name: "images that are filled while they are read", Of: keptIsReadOnce},
		{Name: "memory of kept bits", Of: keptIsSaid},
		{Name: "images that are not read", Of: unreadIsTold},
	}...)
}

// Slices that are read again are filled once.
func keptIsReadOnce(t *testing.T) {
	in, _ := randomImage(t, grid.Shape{D: 9, H: 5, W: 70}, 0.4)
	want, err := Count(in, Set{Threshold: 3})
	if err != nil {
		t.Fatal(err)
	}
	k := keeping(struct{ grid.Source }{in}, Set{Threshold: 3}, 2, mainWords)
	for _, lo := range []int64{0, 0, 3, 5, 4, 3} {
		if err := k.ReadSlab(make([]byte, 4*5*70), lo, lo+4); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if got, err := Count(k, Set{Threshold: 3}); got != want || err != nil {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}

// bulk is read fastest by many parallel requests.
type bulk struct{ grid.Source }

func (bulk) InBulk() bool { return true }

// The kept memory follows from the planes of an image. An image in memory is not kept.
func keptIsSaid(t *testing.T) {
	in, _ := randomImage(t, grid.Shape{D: 9, H: 5, W: 70}, 0.4)
	for _, is := range []bool{false, true} {
		var s grid.Source = struct{ grid.Source }{in}
		if is {
			s = bulk{in}
		}
		k := keeping(s, Set{}, 2, mainWords).(*keeper)
		if want := 8 * k.d * k.flood.plane; k.InBulk() != is || KeptBytes(s) != want {
			t.Errorf("in bulk: %v, want %v; %d bytes are kept, want %d", k.InBulk(), is, KeptBytes(s), want)
		}
	}
	if Keeping(in, Set{}) != grid.Source(in) {
		t.Error("an image in memory is kept")
	}
}

// An image that is not read has no components.
func unreadIsTold(t *testing.T) {
	in, _ := randomImage(t, grid.Shape{D: 5, H: 6, W: 7}, 0.4)
	if _, err := Count(gridtest.Unread{Source: in}, Set{}); err == nil {
		t.Error("an image that is not read is counted")
	}
	p := Part{Source: gridtest.Unread{Source: in}, D: 5, H: 6, W: 7, OfSet: true}
	if _, _, err := p.Fill(2); err == nil {
		t.Error("a part that is not read has components")
	}
}
