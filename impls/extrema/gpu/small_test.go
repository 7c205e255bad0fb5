package gpu

import (
	"testing"

	"eccbench/internal/grid"
)

// Every warp of a small image's blocks has a part, if there are enough.
func TestSmallImagesAreShared(t *testing.T) {
	for _, s := range []grid.Shape{{D: 128, H: 128, W: 128}, {D: 64, H: 64, W: 64}, {D: 1, H: 128, W: 128}, {D: 1, H: 2048, W: 2048}, {D: 3, H: 1, W: 4}, {D: 1, H: 1 << 20, W: 4}} {
		share := shareSmall(s, 132)
		all := parts(s, share.segment, 2, s.W <= columns)
		if share.warps > smallWarps || share.blocks > 132 || share.segment < 1 || share.blocks*share.warps < min(all, 132*smallWarps) {
			t.Errorf("%v: %+v of %s for %d parts", s, share, smallInfix(s), all)
		}
	}
}
