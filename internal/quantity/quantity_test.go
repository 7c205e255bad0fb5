package quantity

import (
	"testing"
	"time"
)

func TestPrinting(t *testing.T) {
	for got, want := range map[string]string{
		Giga(1.23456e9): "1.235", Giga(6.36e11): "636.0", Giga(1234567): "0.001235", Significant(0, 3): "0",
		Rate(4.6e3, "matvec"): "4.600 kmatvec/s", Rate(5e4, "vox"): "0.00005000 Gvox/s", Rate(8.5e7, "simplex"): "85.00 Msimplex/s", Rate(2e8, "vox·it"): "0.2000 Gvox·it/s", Rate(12, "matvec"): "12.00 matvec/s",
		Significant(99.96, 3): "100.0",
		Bytes(0):              "0 B", Bytes(1023): "1023 B", Bytes(1 << 20): "1.00 MiB", Bytes(34 << 30): "34.0 GiB",
		Duration(0): "0 s", Duration(1500 * time.Microsecond): "1.50 ms", Duration(90 * time.Second): "90.0 s",
		Duration(150 * time.Second): "2.50 min", Duration(3 * time.Hour): "3.00 h", Duration(42): "42.0 ns", Duration(42 * time.Microsecond): "42.0 µs",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{"4096": 4096, "512MiB": 512 << 20, "2GiB": 2 << 30, "1.5G": 3 << 29, "64K": 64 << 10, "10B": 10, "0": 0, "1 TiB": 1 << 40} {
		if got, err := ParseBytes(s); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "x", "-1", "1Q", "NaN", "1e30G", "GiB"} {
		if got, err := ParseBytes(s); err == nil {
			t.Errorf("%q: %d, want an error", s, got)
		}
	}
}

func TestSeconds(t *testing.T) {
	if Seconds(1.5) != 1500*time.Millisecond || Seconds(1e30) <= 0 {
		t.Error("seconds")
	}
}

// Whatever is given as bytes is a number of them, or an error.
func FuzzParseBytes(f *testing.F) {
	for _, s := range []string{"1", "64MiB", "1.5 GiB", "-1", "1e300TiB", "NaN", "8EiB", "9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseBytes(s); err == nil && n < 0 {
			t.Errorf("%q is %d bytes", s, n)
		}
	})
}
