package grid

import (
	"bytes"
	"errors"
	"testing"
)

// A slice of a repeated image is the one that it says, in slabs of any size.
func TestRepeat(t *testing.T) {
	for _, s := range []Shape{{11, 3, 2}, {1, 11, 3}, {2, 3, 2}} {
		f := numbered(t, s)
		n, size := s.Slices(), SliceBytes(f)
		for period := int64(1); period <= n+1; period++ {
			r := Repeat(f, period)
			want := period
			if period >= n {
				want = 0
			}
			if r.Shape() != s || Period(r) != want {
				t.Errorf("%v every %d: shape %v, period %d", s, period, r.Shape(), Period(r))
			}
			for lo := range n {
				for hi := lo; hi <= n; hi++ {
					slab := NewBuffer((hi - lo) * size)
					if err := r.ReadSlab(slab, lo, hi); err != nil {
						t.Fatal(err)
					}
					for i := lo; i < hi; i++ {
						if at := i % period * size; !bytes.Equal(slab[(i-lo)*size:(i-lo+1)*size], f.Data()[at:at+size]) {
							t.Errorf("%v every %d: slab %d..%d is wrong at slice %d", s, period, lo, hi, i)
						}
					}
				}
			}
			if r.ReadSlab(nil, 0, n+1) == nil {
				t.Errorf("%v every %d: a slab beyond the image was read", s, period)
			}
		}
	}
	if err := Repeat(counting{9, 2}, 3).ReadSlab(NewBuffer(5<<24), 0, 5); !errors.Is(err, errBroken) {
		t.Errorf("of a broken source: %v", err)
	}
}

// What every period adds as much to is found without looking at the whole image, whether
// it is made or in memory.
func TestOverPeriods(t *testing.T) {
	looked := int64(0)
	// The sum of what stands in two slices beside each other, and of the first and the last.
	of := func(s Source) (uint64, error) {
		looked += s.Shape().Voxels()
		data := NewBuffer(TotalBytes(s))
		if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
			return 0, err
		}
		slice := func(i int64) uint64 { return uint64(data[i*SliceBytes(s)]) }
		n := s.Shape().Slices()
		sum := 1000*slice(0) + 10000*slice(n-1)
		for i := range n - 1 {
			sum += slice(i) * slice(i+1)
		}
		return sum, nil
	}
	add := func(sum *uint64, said uint64, times int64) { *sum += uint64(times) * said }
	for _, s := range []Shape{{40, 1, 2}, {1, 40, 3}, {1, 1, 1}, {9, 2, 2}} {
		f := numbered(t, s)
		for period := int64(1); period <= s.Slices(); period++ {
			r := Repeat(f, period)
			whole, err := Load(r)
			if err != nil {
				t.Fatal(err)
			}
			want, err := of(whole)
			if err != nil {
				t.Fatal(err)
			}
			for what, src := range map[string]Source{"made": r, "in memory": whole.Repeating(Period(r))} {
				looked = 0
				got, err := OverPeriods(src, of, add)
				if err != nil || got != want {
					t.Errorf("%v every %d, %s: %d, %v; want %d", s, period, what, got, err, want)
				}
				if looked != LookedAt(src) || looked > s.Voxels() {
					t.Errorf("%v every %d, %s: looked at %d voxels, said %d", s, period, what, looked, LookedAt(src))
				}
			}
		}
	}
	for n, want := range map[int64]int64{1000: 12 + 2 + 4 + 2, 1001: 12 + 2 + 3 + 2, 1002: 12 + 2 + 2, 1006: 12 + 2 + 6, 13: 13, 3: 3} {
		if got := LookedAt(Repeat(numbered(t, Shape{n, 2, 2}), 10)) / 4; got != want {
			t.Errorf("of %d slices that repeat every 10, %d are looked at, want %d", n, got, want)
		}
	}
	if _, err := OverPeriods(Repeat(counting{9, 0}, 1), of, add); !errors.Is(err, errBroken) {
		t.Errorf("of a broken source: %v", err)
	}
}

// What is not to be seen to repeat itself is the same image, in memory if it was.
func TestUnrepeated(t *testing.T) {
	f := numbered(t, Shape{9, 2, 2})
	if n := Period(f.Repeating(3)); n != 3 || Period(f) != 0 {
		t.Errorf("it repeats itself after %d slices, want 3, and after %d where nobody knows", n, Period(f))
	}
	if g, ok := Unrepeated(f.Repeating(3)).(*Field); !ok || Period(g) != 0 || !bytes.Equal(g.Data(), f.Data()) {
		t.Errorf("of a field it is %T", Unrepeated(f.Repeating(3)))
	}
	if r := Repeat(f, 3); Period(r) != 3 || Period(Unrepeated(r)) != 0 || Unrepeated(r).Shape() != f.Shape() {
		t.Error("a source repeats itself still")
	}
	if s := Source(struct{ Source }{f}); Unrepeated(s) != s {
		t.Error("what does not repeat itself is another source")
	}
}
