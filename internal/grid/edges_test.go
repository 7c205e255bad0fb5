package grid

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A slow source counts the active reads; later ones take longer.
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

// Shape makes slabs have eight slices.
func (s *slow) Shape() Shape { return Shape{D: 128, H: 1024, W: 2048} }

// After an interrupted reading, no reader writes to a slab any more.
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
		time.Sleep(time.Hour) // for the remaining readers
	}
}
