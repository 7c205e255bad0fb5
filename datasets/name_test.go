package datasets

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"noise/shape=512x512x512/levels=1024/type=float32/seed=7", "noise/shape=512x512x512/levels=1024/type=float32/seed=7"},
		{"noise/seed=007/type=float32/shape=512x512x512", "noise/shape=512x512x512/levels=1024/type=float32/seed=7"},
		{"noise/shape=8x8", "noise/shape=8x8/levels=1024/type=float32/seed=1"},
		{"noise/shape=8x8x1", "noise/shape=8x8/levels=1024/type=float32/seed=1"},
		{"noise/shape=8x8/type=uint8", "noise/shape=8x8/levels=256/type=uint8/seed=1"},
		{"noise/shape=8x8/type=int16", "noise/shape=8x8/levels=65536/type=int16/seed=1"},
		{"noise/shape=8x8/lo=0/step=0.0009765625", "noise/shape=8x8/levels=1024/type=float32/seed=1"},
		{"noise/shape=8x8/lo=1.0/step=1e-6", "noise/shape=8x8/levels=1024/type=float32/lo=1/step=1e-06/seed=1"},
		{"noise/shape=8x8/lo=-0", "noise/shape=8x8/levels=1024/type=float32/seed=1"},
		{"noise/shape=8x8/seed=18446744073709551615", "noise/shape=8x8/levels=1024/type=float32/seed=18446744073709551615"},
		{"noise/shape=8x8/roll=19", "noise/shape=8x8/levels=1024/type=float32/seed=1/roll=3"},
		{"noise/shape=8x8/roll=16", "noise/shape=8x8/levels=1024/type=float32/seed=1"},
		{"noise/shape=8x8/repeat=3/roll=1", "noise/shape=8x8/levels=1024/type=float32/seed=1/roll=1/repeat=3"},
		{"noise/shape=8x8x9/repeat=9/path=/x", "noise/shape=8x8x9/levels=1024/type=float32/seed=1/path=/x"},
		{"grf/shape=8x9x10/smooth=2.50", "grf/shape=8x9x10/levels=1024/type=float32/smooth=2.5/seed=1"},
		{"grf/shape=8x9x10", "grf/shape=8x9x10/levels=1024/type=float32/smooth=2/seed=1"},
		{"distinct/shape=8x9", "distinct/shape=8x9/type=float32/seed=1"},
		{"ramp/type=uint8/shape=8x9", "ramp/shape=8x9/levels=256/type=uint8"},
		{"constant/shape=8x9", "constant/shape=8x9/type=float32"},
		{"ball/shape=64x64x64/type=uint8", "ball/shape=64x64x64/type=uint8/radius=24"},
		{"shell/shape=64x64", "shell/shape=64x64/type=float32/radius=24/thickness=2"},
		{"torus/shape=64x64x64", "torus/shape=64x64x64/type=float32/tube=8/radius=16"},
		{"links/shape=64x64x64", "links/shape=64x64x64/type=float32/tube=4/radius=18"},
		{"file/path=/data/ch2.nii.gz", "file/path=/data/ch2.nii.gz"},
		{"file/roll=3/path=/data/a=b/roll=4", "file/roll=3/path=/data/a=b/roll=4"},
		{"file/stream=false/path=x", "file/stream=false/path=x"},
		{"file/roll=9/stream=true/type=uint8/levels=5/shape=2x3x4/path=x", "file/shape=2x3x4/levels=5/type=uint8/stream=true/roll=1/path=x"},
	} {
		got, err := Canonical(c.in)
		if err != nil || got != c.want {
			t.Errorf("Canonical(%q) = %q, %v; want %q", c.in, got, err, c.want)
			continue
		}
		if again, err := Canonical(got); again != got {
			t.Errorf("Canonical(%q) = %q, %v", got, again, err)
		}
	}
}

func TestNameErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "unknown generator"},
		{"nose/shape=8x8", `unknown generator "nose": want one of noise, grf,`},
		{"noise", "shape is missing: want shape=WIDTHxHEIGHT"},
		{"noise/shape=8", "want WIDTHxHEIGHT"},
		{"noise/shape=0x8", "at least 1"},
		{"noise/shape=4294967296x8", "at most 2147483648"},
		{"noise/shape=8x8/sede=1", `unknown key "sede": want one of shape, levels, type, lo, step, seed, roll`},
		{"noise/shape=8x8/seed=1/seed=2", "seed is given twice"},
		{"noise/shape=8x8/", "not key=value"},
		{"noise/shape=8x8/=3", "not key=value"},
		{"noise/shape=8x8/seed", "not key=value"},
		{"noise/shape=8x8/seed=-1", "want a whole number, 0 to 18446744073709551615"},
		{"noise/shape=8x8/levels=0", "want 1 to 16777216"},
		{"noise/shape=8x8/levels=many", "want a whole number, 1 to 16777216"},
		{"noise/shape=8x8/type=uint8/levels=257", "want 1 to 256 for type uint8"},
		{"noise/shape=8x8/type=int16/levels=65537", "want 1 to 65536"},
		{"noise/shape=8x8/type=float32/levels=16777217", "want 1 to 16777216"},
		{"noise/shape=8x8/type=double", "want one of uint8, int16, uint16, float32"},
		{"noise/shape=8x8/type=uint8/lo=1", "type=float32"},
		{"noise/shape=8x8/lo=NaN", "want a finite number"},
		{"noise/shape=8x8/lo=1/step=1e-8", "same float32"},
		{"noise/shape=8x8/step=0", "step must be positive"},
		{"noise/shape=8x8/step=1e38", "ladder affine:0:1e+38:1024"},
		{"noise/shape=8x8/roll=-1", "0 or more"},
		{"noise/shape=8x8/repeat=0", "want 1 to 9223372036854775807"},
		{"noise/shape=8x8/repeat=few", "want a whole number, 1 to 9223372036854775807"},
		{"file/repeat=2/path=x", `unknown key "repeat"`},
		{"grf/shape=8x8/smooth=0.4", "want 0.5 to 32"},
		{"grf/shape=8x8/smooth=33", "want 0.5 to 32"},
		{"distinct/shape=4096x4097", "want at most 16777216"},
		{"distinct/shape=17x16/type=uint8", "want at most 256"},
		{"ball/shape=2x9", "at least 3 voxels"},
		{"ball/shape=9x9x9/radius=5", "want 1 to 4, half the shortest axis"},
		{"shell/shape=9x9x7", "want a radius of at least 3"},
		{"shell/shape=9x9x9/thickness=1", "want 2 to 2"},
		{"torus/shape=64x64", "want at least 12x12x4"},
		{"torus/shape=64x64x64/tube=16", "want 2 to 15"},
		{"torus/shape=64x64x64/tube=8/radius=9", "want 10 to 24"},
		{"links/shape=13x10x10", "want at least 14x10x10"},
		{"links/shape=64x64x64/tube=8", "want 1 to 7"},
		{"file/shape=2x2", "path is missing"},
		{"file/path=", "path is missing"},
		{"file/stream=yes/path=x", "want one of true, once, false"},
		{"file/path=/nowhere/at/all.npy", "/nowhere/at/all.npy"},
	} {
		_, err := Open(c.in)
		if err == nil {
			t.Errorf("Open(%q): no error, want %q", c.in, c.want)
			continue
		}
		if got := err.Error(); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("Open(%q): %q, want one line with %q", c.in, got, c.want)
		}
		if strings.HasPrefix(c.in, "file/path=/") {
			continue // a missing file has a valid name
		}
		if _, err := ParseName(c.in); err == nil {
			t.Errorf("ParseName(%q): no error, want %q", c.in, c.want)
		}
		if n, parsed := split(c.in); parsed == nil {
			if _, within := n.Open(1 << 40); within == nil || within.Error() != err.Error() {
				t.Errorf("%q in 1 TiB: %v, want %v", c.in, within, err)
			}
		}
	}
}

// TestNameOrder shuffles the keys of every example.
func TestNameOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(Generators()).Draw(t, "generator")
		want, err := Canonical(g.Example)
		if err != nil {
			t.Fatal(err)
		}
		if g.FromFiles {
			return
		}
		parts := strings.Split(want, "/")
		keys := rapid.Permutation(parts[1:]).Draw(t, "keys")
		if got, err := Canonical(parts[0] + "/" + strings.Join(keys, "/")); got != want {
			t.Fatalf("%v: %q, %v; want %q", keys, got, err, want)
		}
	})
}

func TestGenerators(t *testing.T) {
	for _, g := range Generators() {
		n, err := ParseName(g.Example)
		if err != nil {
			t.Errorf("example: %v", err)
			continue
		}
		if n.Generator != g.Name || g.Doc == "" {
			t.Errorf("%s: example %q, doc %q", g.Name, g.Example, g.Doc)
		}
		for _, p := range g.Params {
			if p.Doc == "" {
				t.Errorf("%s: %s has no doc", g.Name, p.Key)
			}
			// The canonical name may omit only these parameters.
			optional := []string{"lo", "step", "roll", "repeat", "shape", "levels", "type", "stream", "nan", "volume", "array", "channel", "strict"}
			if !g.FromFiles {
				optional = append(optional, "path")
			}
			if n.Get(p.Key) == "" && !slices.Contains(optional, p.Key) {
				t.Errorf("%s: %s is never read", g.Name, p.Key)
			}
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, g := range Generators() {
		f.Add(g.Example)
	}
	f.Add("torus/shape=64x64x32/radius=\n16\x82")
	f.Add("checkerboard/\nshape=4x4/\nshape=4x4")
	f.Add("noise/shape=8x8/levels=3/lo=-1e-46/step=1e-45/roll=5")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 || strings.Contains(s, "levels=") && len(s) > 60 {
			return
		}
		got, err := Canonical(s)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if again, err := Canonical(got); err != nil || again != got {
			t.Errorf("%q is spelled %q, which is spelled %q, %v", s, got, again, err)
		}
	})
}
