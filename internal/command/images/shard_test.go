package images

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"eccbench/impls"
	"eccbench/internal/cli"
)

// output returns the output of a command without the random key of its fingerprint.
func output(t *testing.T, s cli.Subcommand, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	c := cli.Program{Set: impls.All(impls.Devices()), Stdout: &out, Stderr: &errs}
	if err := s.Do(&c, append([]string{"--quiet"}, args...)); err != nil {
		t.Fatalf("%s %q: %v", s.Name, args, err)
	}
	return regexp.MustCompile(`\(key [0-9a-f]{32}\)`).ReplaceAllString(out.String(), "")
}

// More changes than fit one chunk are written as one curve, or as one part if memory cannot keep
// them.
func TestMergedChunks(t *testing.T) {
	defer func(was int64) { spilledVoxels = was }(spilledVoxels)
	spilledVoxels = 1 << 18
	rng := rand.New(rand.NewPCG(3, 4))
	var b []byte
	for range 1 << 20 {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(rng.NormFloat64())))
	}
	path := filepath.Join(t.TempDir(), "many.raw")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, rows []string }{
		{nil, []string{"--format", "json"}},
		{[]string{"--superlevel"}, []string{"--format", "npy", "--range", "-0.5,0.1"}},
	} {
		image := append([]string{path, "--shape", "64x64x256", "--type", "float32"}, c.in...)
		dir := t.TempDir()
		for _, part := range []string{"1/2", "2/2"} {
			output(t, Curve(), append([]string{"--shard", part, "--out", dir}, image...)...)
		}
		got := output(t, Merge(), append([]string{dir}, c.rows...)...)
		if want := output(t, Curve(), slices.Concat(image, c.rows)...); got != want {
			t.Errorf("%q %q: %d bytes, want %d, or others", c.in, c.rows, len(got), len(want))
		}
	}
}
