package duality

import (
	"testing"

	"eccbench/internal/grid"
)

// A laddered source has only a type and a ladder.
type laddered struct {
	grid.Source
	typ    grid.Type
	ladder grid.Ladder
}

func (l laddered) Type() grid.Type     { return l.typ }
func (l laddered) Ladder() grid.Ladder { return l.ladder }

// Keys are bytes if there are few levels, and the image's own bytes if those are the levels.
func TestKeysOnDevices(t *testing.T) {
	few := func(n int64) grid.Ladder {
		l, err := grid.Affine(0, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		laddered
		key  grid.Type
		same bool
	}{
		{laddered{nil, grid.Uint8, grid.Identity(grid.Uint8)}, grid.Uint8, true},
		{laddered{nil, grid.Uint8, few(255)}, grid.Uint8, false}, {laddered{nil, grid.Uint8, few(256)}, grid.Uint16, false},
		{laddered{nil, grid.Int16, few(255)}, grid.Uint8, false}, {laddered{nil, grid.Int16, grid.Identity(grid.Int16)}, grid.Uint16, false},
		{laddered{nil, grid.Uint16, grid.Identity(grid.Uint16)}, grid.Uint16, false}, {laddered{nil, grid.Float32, few(5)}, grid.Uint8, false},
	} {
		if key, same := deviceKey(c.laddered); key != c.key || same != c.same {
			t.Errorf("%v on %v: %v, %v", c.typ, c.ladder, key, same)
		}
	}
}
