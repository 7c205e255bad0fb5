package datasets

import (
	"fmt"
	"testing"
)

// A hole through a box subtracts 1 from its Euler characteristic. A cavity adds 1, and is a piece
// of the rest of space.
func TestPierced(t *testing.T) {
	for _, shape := range []string{"9x9x9", "8x7x6", "5x6x4", "3x3x3", "70x4x5"} {
		for _, count := range []int64{0, 1} {
			checkTopology(t, fmt.Sprintf("drills/shape=%s/type=uint8/count=%d", shape, count), topology{1 - count, 1, 1})
			checkTopology(t, fmt.Sprintf("cavities/shape=%s/type=int16/count=%d", shape, count), topology{1 + count, 1, 1 + count})
		}
	}
	checkTopology(t, "drills/shape=9x8x3/type=uint8", topology{1 - 4*3, 1, 1})
	checkTopology(t, "cavities/shape=9x8x7/type=uint8", topology{1 + 4*3*3, 1, 1 + 4*3*3})
	checkTopology(t, "cavities/shape=9x8x7/type=uint8/count=17", topology{18, 1, 18})
	checkTopology(t, "cavities/shape=9x8/type=uint8", topology{1 - 4*3, 1, 1 + 4*3})
	checkTopology(t, "drills/shape=9x8/type=uint8", topology{1 - 4*3, 1, 1 + 4*3})
	for _, bad := range []string{"drills/shape=9x8x3/count=13", "cavities/shape=9x8x2/count=1", "drills/shape=2x2/count=1", "drills/shape=9x9/count=-1"} {
		if _, err := Open(bad); err == nil {
			t.Errorf("%s is an image", bad)
		}
	}
}

// A serpent is one piece without a hole.
func TestSerpent(t *testing.T) {
	for d := 1; d < 7; d++ {
		for h := 1; h < 7; h++ {
			for w := 1; w < 6; w++ {
				checkTopology(t, fmt.Sprintf("serpent/shape=%dx%dx%d/type=uint8", w, h, d), topology{1, 1, 1})
			}
		}
	}
}

func TestSponge(t *testing.T) {
	checkTopology(t, "sponge/shape=2x2x2/type=uint8", topology{1, 1, 1})
	checkTopology(t, "sponge/shape=3x3x3/type=uint8", topology{-4, 1, 1})
	checkTopology(t, "sponge/shape=9x9x9/type=uint8", topology{-80, 1, 1})
	checkTopology(t, "sponge/shape=9x9/type=float32", topology{-8, 1, 10})
}
