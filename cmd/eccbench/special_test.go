//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"eccbench/impls"
	"eccbench/internal/cli"
)

// A named pipe without a writer, an endless device and a folder are errors of one line, for every
// kind of argument. No command waits, or reads forever.
func TestSpecialFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	records := func(s string) []string { return []string{"report", s} }
	image := "noise/shape=4x4/type=float32"
	commands := map[string]func(string) []string{
		"results":    records,
		"two":        func(s string) []string { return []string{"compare", s, s} },
		"part":       func(s string) []string { return []string{"merge", s} },
		"table":      func(s string) []string { return []string{"curve", image, "--shard", "1/2", "--table", s} },
		"judgement":  func(s string) []string { return []string{"report", "--html", "page.html", "--gate", s} },
		"pairs":      func(s string) []string { return []string{"assess", "--pairs", s} },
		"stack":      func(s string) []string { return []string{"curve", "--stack", s} },
		"graph":      func(s string) []string { return []string{"eigenmap", "--stack", s} },
		"input":      func(s string) []string { return []string{"verify", "--impl", "cpu", "--input", "file/path=" + s} },
		"truth":      func(s string) []string { return []string{"eigenmap", "noise/shape=4x4", "--truth", s} },
		"complex":    func(s string) []string { return []string{"homology", "file/path=" + s} },
		"elements":   func(s string) []string { return []string{"homology", "file/path=" + s + ".ele"} },
		"raw voxels": func(s string) []string { return []string{"curve", s + ".nhdr"} },
		"chunk":      func(s string) []string { return []string{"curve", s + ".zarr"} },
	}
	write := func(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }
	for name, make := range map[string]func(string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"zero":   func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		err := errors.Join(make(name), make(name+".ele"), write(name+".node", "4 3 0 0\n"), os.Mkdir(name+".zarr", 0o700),
			write(name+".nhdr", "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 4 4\nencoding: raw\ndata file: "+name+"\n\n"),
			write(filepath.Join(name+".zarr", ".zarray"), `{"zarr_format":2,"shape":[4,4],"chunks":[4,4],"dtype":"|u1",`+
				`"compressor":null,"filters":null,"fill_value":0,"order":"C"}`),
			make(filepath.Join(name+".zarr", "0.0")))
		if err != nil {
			t.Fatal(err)
		}
		for what, args := range commands {
			var stdout, stderr bytes.Buffer
			c := cli.Program{Set: impls.All(impls.Devices()), Worker: []string{"none"}, Stdout: &stdout, Stderr: &stderr}
			code := eccbench(&c, args(name))
			if text := stderr.String(); code != cli.ExitUsage || stdout.Len() > 0 || strings.Count(text, "\n") != 1 {
				t.Errorf("%s as %s: exit code %d, %q, %q", name, what, code, &stdout, text)
			}
		}
	}
}
