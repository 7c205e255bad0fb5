//go:build unix

package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// testMask draws a mask of 6×5×4 voxels from values of one type. It returns the bytes of an .npy
// file of it, and of the equal mask of uint8: 0 where the value is 0 in its own type, and another
// byte for each other value.
func testMask[T int32 | uint32 | int64 | uint64 | float64](kind string, values ...T) (typed, small []byte) {
	rng := rand.New(rand.NewPCG(1, uint64(len(values))))
	voxels, bytes := make([]T, 6*5*4), make([]byte, 6*5*4)
	for i := range voxels {
		v := values[rng.IntN(len(values))]
		if voxels[i] = v; v != 0 {
			bytes[i] = byte(1 + slices.Index(values, v))
		}
	}
	return append(headers.Npy(kind, 4, 5, 6), grid.Bytes(voxels)...), append(headers.Npy("u1", 4, 5, 6), bytes...)
}

// Every command reads a mask of a type that float32 does not hold as one of uint8 that is 0 at the
// same voxels.
func TestMasksOfEveryType(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	put := func(name string, data []byte) {
		if err := os.WriteFile(path(name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	image := make([]byte, 6*5*4)
	for i := range image {
		image[i] = byte(rng.IntN(7))
	}
	put("image.npy", append(headers.Npy("u1", 4, 5, 6), image...))
	put("typed.npy", append(headers.Npy("f8", 3, 3), grid.Bytes([]float64{.1, .1, .1, .1, 0, .1, .1, .1, .1})...))
	put("nine.npy", append(headers.Npy("u1", 3, 3), make([]byte, 9)...))
	for command, want := range map[string]string{"curve": "0,0\n", "betti": "0,1,1,0\n"} { // a ring, counted by hand
		got := mustTell(t, command, path("nine.npy"), "--mask", path("typed.npy"), "--at", "0", "-q", "--no-header")
		if !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 1 {
			t.Errorf("%s of a ring: %q, want %q", command, got, want)
		}
	}
	masks := map[string]func() (typed, small []byte){
		"float64": func() ([]byte, []byte) {
			return testMask("f8", 0, math.Copysign(0, -1), 0.1, -0.1, math.SmallestNonzeroFloat64, -1e300)
		},
		"int32":         func() ([]byte, []byte) { return testMask[int32]("i4", 0, 1<<24+1, -1<<24-1, 3) },
		"uint32":        func() ([]byte, []byte) { return testMask[uint32]("u4", 0, 0, 1<<24+1, math.MaxUint32) },
		"int64":         func() ([]byte, []byte) { return testMask[int64]("i8", 0, 0, 1<<60+1, 1<<60+2, math.MinInt64) },
		"uint64":        func() ([]byte, []byte) { return testMask[uint64]("u8", 0, 0, math.MaxUint64, math.MaxUint64-1) },
		"without a 0":   func() ([]byte, []byte) { return testMask("f8", 0.1, 0.3, -0.7) },
		"negative only": func() ([]byte, []byte) { return testMask[int64]("i8", -1<<60-1, -1<<60) },
	}
	for name, draw := range masks {
		typed, small := draw()
		put("typed.npy", typed)
		put("small.npy", small)
		tell := func(line, mask string) string {
			args := strings.Fields(strings.NewReplacer("IMAGE", path("image.npy"), "MASK", path(mask), "OUT", path("out.npy")).Replace(line))
			switch args[0] {
			case "sharded":
				return mustTell(t, append([]string{"merge", "-q", "--no-header"}, sharded(t, 2, args[1:]...)...)...)
			case "curve", "betti", "pairs":
				return mustTell(t, append(args, "-q", "--no-header")...)
			}
			_, stderr, code := told(args...)
			out, err := os.ReadFile(path("out.npy"))
			if code != 0 || err != nil {
				t.Fatalf("%s: %s: exit code %d: %s (%v)", name, line, code, stderr, err)
			}
			_, dice, _ := strings.Cut(stderr, "Dice ") // of an eigenmap
			return string(out) + dice
		}
		for _, line := range []string{
			"curve IMAGE --mask MASK", "curve IMAGE --mask MASK --superlevel", "curve IMAGE --mask MASK --construction V",
			"curve IMAGE --mask MASK --each-slice", "curve IMAGE --mask MASK --at 3", "curve IMAGE --mask MASK --periodic x,z",
			"curve IMAGE --mask file/roll=1/path=MASK", "sharded IMAGE --mask MASK", "betti IMAGE --mask MASK",
			"betti IMAGE --mask MASK --at 3", "betti IMAGE --mask MASK --at 3 --superlevel --construction V",
			"pairs IMAGE --mask MASK", "pairs IMAGE --mask MASK --superlevel --construction V",
			"gvf IMAGE --mask MASK --steps 3 -o OUT", "eigenmap IMAGE --truth MASK -k 2 -o OUT",
		} {
			if got, want := tell(line, "typed.npy"), tell(line, "small.npy"); got != want {
				t.Errorf("%s: %s: %.300q, want %.300q", name, line, got, want)
			}
		}
	}
}
