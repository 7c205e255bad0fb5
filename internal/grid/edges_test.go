package grid

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A slab is within the image, does not end before it begins, and has just as much room.
func TestCheckSlab(t *testing.T) {
	f, err := NewField(Shape{D: 4, H: 1, W: 2}, Uint8, make([]byte, 8), Identity(Uint8))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lo, hi int64
		bytes  int
		ok     bool
	}{
		{0, 4, 8, true}, {0, 0, 0, true}, {4, 4, 0, true}, {3, 4, 2, true},
		{-1, 1, 4, false}, {-1, 4, 10, false}, {2, 1, 0, false}, {3, 5, 4, false}, {5, 5, 0, false}, {-2, -1, 2, false},
		{0, 1, 1, false}, {0, 1, 3, false},
	} {
		if err := CheckSlab(f, make([]byte, c.bytes), c.lo, c.hi); (err == nil) != c.ok {
			t.Errorf("slices %d to %d in %d bytes: %v", c.lo, c.hi, c.bytes, err)
		}
	}
}

// The level of a value is the lowest one that is not below it, whatever rounding makes of
// the first guess: on levels, a rounding beside them, and where several levels are one
// value.
func TestLevelIsTheLowest(t *testing.T) {
	for _, l := range []struct {
		lo, step float64
		n        int64
	}{{0, 0.1, 300}, {-3.3, 0.1, 256}, {1e6, 1. / 3, 400}, {0, 1e-45, 64}, {7, 1, 1}, {16777000, 0.5, 900}, {-1, 3e-8, 200}} {
		ladder, err := Affine(l.lo, l.step, l.n)
		if err != nil {
			continue // levels that are one value are no ladder
		}
		for k := range l.n {
			for _, v := range []float32{ladder.Value(k), math.Nextafter32(ladder.Value(k), float32(math.Inf(1))), math.Nextafter32(ladder.Value(k), float32(math.Inf(-1)))} {
				want := int64(0)
				for want < l.n && ladder.Value(want) < v {
					want++
				}
				if got := ladder.Level(v); got != want {
					t.Errorf("%+v: %v is on level %d, want %d", l, v, got, want)
				}
			}
		}
	}
}

// A slow source counts the reads that are under way, the later ones of which take longer.
type slow struct {
	Source
	reading atomic.Int64
}

func (s *slow) ReadSlab(_ []byte, lo, _ int64) error {
	s.reading.Add(1)
	defer s.reading.Add(-1)
	time.Sleep(time.Duration(lo) * time.Second)
	return nil
}

// Shape is of slabs of eight slices.
func (s *slow) Shape() Shape { return Shape{D: 128, H: 1024, W: 2048} }

// Whoever gives up reading has no reader left behind that writes to a slab.
func TestEachSlabLeavesNoReader(t *testing.T) { synctest.Test(t, eachSlabLeavesNoReader) }

func eachSlabLeavesNoReader(t *testing.T) {
	f, err := NewField(Shape{D: 1, H: 1, W: 1}, Uint8, []byte{0}, Identity(Uint8))
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	for after := 1; after <= 16; after++ {
		s, calls := &slow{Source: f}, 0
		err := EachSlab(s, func([]byte, int64, int64) error {
			if calls++; calls < after {
				return nil
			}
			return enough
		})
		if !errors.Is(err, enough) || s.reading.Load() != 0 {
			t.Errorf("after %d slabs: %v, %d readers are left", after, err, s.reading.Load())
		}
		time.Sleep(time.Hour) // of those that are left
	}
}

// A ladder that is told in words is read back, and no other text is one.
func TestParseLadder(t *testing.T) {
	odd, err := Affine(-1.0/3, 1e-7, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range Types() {
		for _, l := range []Ladder{Identity(typ), odd} {
			got, err := ParseLadder(l.Key(), typ)
			if err != nil || got.Key() != l.Key() || got.Len() != l.Len() || got.Value(got.Len()-1) != l.Value(l.Len()-1) {
				t.Errorf("%v %s: %v (%v)", typ, l.Key(), got, err)
			}
		}
	}
	for _, key := range []string{"", "identity:256", "table:3:00", "affine:0:1", "affine:0:0:3", "affine:0:1:3x", "affine:0:1:+3"} {
		if l, err := ParseLadder(key, Uint16); err == nil {
			t.Errorf("%q is %v", key, l)
		}
	}
}

// Levels that are one float32 are said by their numbers.
func TestLevelsThatAreTheSame(t *testing.T) {
	for _, c := range []struct {
		lo, step float64
		want     string
	}{{1, 1e-12, "levels 0 and 1 are the same float32"}, {1<<24 - 1, 1, "levels 1 and 2 are the same float32"}} {
		if _, err := Affine(c.lo, c.step, 3); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("from %v by %v: %v, want %q", c.lo, c.step, err, c.want)
		}
	}
}
