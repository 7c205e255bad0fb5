package labels

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the parts of a call, poison, unreadable images and rejections.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{{Name: "calls", Of: i.calls}, {Name: "what is refused", Of: i.refuses}}
}

// A call names its parts, and poison removes its answer. An unreadable image has no numbers.
func (i Implementation) calls(t *testing.T) {
	f := gridtest.Image(t, grid.Shape{D: 3, H: 3, W: 4}, grid.Uint8, grid.Identity(grid.Uint8), func(at int64) float64 {
		if at == 17 { // in the middle
			return 1
		}
		return 0
	})
	made, err := i.Setup(&betti.Image{Source: f}, bench.Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	j := made.(*job)
	if j.Last != betti.Poisoned {
		t.Errorf("%v of a job that has done nothing", j.Last)
	}
	j.Last = betti.Numbers{}
	if j.Poison(); j.Last != betti.Poisoned {
		t.Errorf("%v that is poisoned", j.Last)
	}
	if slices.ContainsFunc(j.labels, func(l int64) bool { return l >= 0 }) || slices.Contains(j.outside, 0) || slices.Contains(j.outside, 1) {
		t.Errorf("labels %v and voxels %v that are poisoned", j.labels, j.outside)
	}
	trace := &bench.Trace{}
	if err := j.Do(trace); err != nil || j.Last != (betti.Numbers{B0: 1, B2: 1}) {
		t.Errorf("%v of a shell (%v)", j.Last, err)
	}
	if got := slices.Sorted(maps.Keys(trace.Spans())); !slices.Equal(got, []string{"cavities", "characteristic", "components", "read"}) {
		t.Errorf("parts %q", got)
	}
	if n, err := bench.Answer(i, &betti.Image{Source: gridtest.Unread{Source: f}}, bench.Conditions{}); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("%v of an image that is not read (%v)", n, err)
	}
}

// An image has a fixed cost in time and memory per voxel, and is rejected only above the limits.
func (i Implementation) refuses(t *testing.T) {
	in := &betti.Image{Source: gridtest.VastOf(grid.Shape{D: 20, H: 30, W: 50}, grid.Uint8)}
	const voxels = 20 * 30 * 50
	for c, can := range map[bench.Conditions]bool{
		{}: true, {Time: quantity.Seconds(voxels * 150e-9)}: true, {Time: quantity.Seconds(voxels*150e-9) - 1}: false, {Memory: 9 * voxels}: true, {Memory: 9*voxels - 1}: false,
	} {
		if err := i.CanDo(in, c); (err == nil) != can {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
