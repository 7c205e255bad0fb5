package betti

import (
	"bytes"
	"strings"
	"testing"

	"eccbench/internal/workloads/betti/reductions"
	"eccbench/internal/workloads/ecc"
)

// The witnesses agree with each other and with known answers on all adversarial inputs. Flood fill
// and reductions are independent of each other.
func TestWitnesses(t *testing.T) {
	closed := map[string]bool{}
	for _, name := range question().Adversarial {
		in := open(t, name)
		filled, err := ByFlooding(in, ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := knownNumbers(name, in); ok {
			if n != filled {
				t.Errorf("%s: known to be %v, filled %v", name, n, filled)
			}
			_, image, _ := strings.Cut(name, "of=")
			generator, _, _ := strings.Cut(image, "/")
			closed[generator] = true
		}
		if in.Shape().Voxels() > 25000 {
			continue
		}
		m, err := maskOf(in, false)
		if err != nil {
			t.Fatal(err)
		}
		if n := reductions.Compute(m.inside, m.d, m.h, m.w); n != [3]int64{filled.B0, filled.B1, filled.B2} {
			t.Errorf("%s: reduced to %v, filled %v", name, n, filled)
		}
	}
	for _, generator := range []string{"constant", "point", "ball", "shell", "torus", "links", "checkerboard", "dots", "drills", "cavities", "serpent", "ramp"} {
		if !closed[generator] {
			t.Errorf("no adversarial input tried the closed form of %s", generator)
		}
	}
}

// FuzzDecode checks that decoded answers encode and decode to the same.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(Numbers{1, 2, 3}))
	f.Add(Encode(Poisoned))
	f.Add([]byte{1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Decode(data)
		if err == nil && !bytes.Equal(Encode(n), data) {
			t.Errorf("%v is written as other bytes", n)
		}
	})
}
