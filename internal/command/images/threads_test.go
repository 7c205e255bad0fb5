package images

import (
	"path/filepath"
	"runtime"
	"testing"

	"eccbench/internal/cli"
	"eccbench/internal/command/assess"
)

// --threads limits the cores that Go uses for the whole command: witnesses and readers use all of these.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const image = "noise/shape=5x4/type=uint8/seed=1"
	dir := t.TempDir()
	out := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		cli.Subcommand
		args []string
	}{
		{Curve(), []string{image}},
		{Curve(), []string{image, "--shard", "1/1", "--out", out("curve.part")}},
		{Merge(), []string{out("curve.part")}},
		{Levels(), []string{image}},
		{Levels(), []string{image, "--shard", "1/1", "--out", out("levels.part")}},
		{Betti(), []string{image}},
		{Betti(), []string{image, "--at", "9"}},
		{GVF(), []string{image, "--steps", "1", "--out", out("flow.npy")}},
		{Eigenmap(), []string{image, "-k", "2"}},
		{Homology(), []string{"rp2"}},
		{assess.Command(), []string{image, image}},
	} {
		runtime.GOMAXPROCS(3)
		output(t, c.Subcommand, append([]string{"--threads", "4"}, c.args...)...)
		if n := runtime.GOMAXPROCS(0); n != 3 {
			t.Errorf("%s %q: %d cores of 3 with --threads 4", c.Name, c.args, n)
		}
		output(t, c.Subcommand, append([]string{"--threads", "2"}, c.args...)...)
		if n := runtime.GOMAXPROCS(0); n != 2 {
			t.Errorf("%s %q: %d cores with --threads 2", c.Name, c.args, n)
		}
	}
}
