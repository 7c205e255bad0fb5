//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"eccbench/internal/cli"
)

// npy is an .npy file with a header and data.
func npy(descr, shape string, data []byte) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(b, header...), data...)
}

// nifti is a NIfTI-1 file of uint8.
func nifti(nx, ny, nz int16, data []byte) []byte {
	h := make([]byte, 352)
	le := binary.LittleEndian
	le.PutUint32(h, 348)
	for i, n := range []int16{3, nx, ny, nz, 1, 1, 1, 1} {
		le.PutUint16(h[40+2*i:], uint16(n))
	}
	le.PutUint16(h[70:], 2)
	le.PutUint16(h[72:], 8)
	le.PutUint32(h[108:], math.Float32bits(352))
	copy(h[344:], "n+1\x00")
	return append(h, data...)
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func floats(v ...float32) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return b
}

// A bad file gives one line on stderr with the file and the fault, exit code 64, nothing on stdout
// and no output file.
func TestBadFiles(t *testing.T) {
	whole := gzipped(nifti(20, 30, 40, make([]byte, 24000)))
	noise := make([]byte, 200*300*40) // as much as is found to be cut off when it is read, not opened
	rand.NewChaCha8([32]byte{1}).Read(noise)
	long := gzipped(nifti(200, 300, 40, noise))
	nan := float32(math.NaN())
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		data []byte
		args []string
		want string
	}{
		{"truncated.nii.gz", whole[:len(whole)/2], nil, "truncated"},
		{"long.nii.gz", long[:len(long)/2], nil, "truncated: the compressed voxels end after"},
		{"short.nii", nifti(20, 30, 40, make([]byte, 23999)), nil, "24000"},
		{"complex.npy", npy("<c8", "(2, 2, 2)", make([]byte, 64)), nil, "complex"},
		{"complex.npy", npy("<c16", "(2, 2, 2)", make([]byte, 128)), nil, "c16"},
		{"huge.npy", npy("|u1", "(10000, 10000, 10000)", make([]byte, 64)), nil, "1000000000000"},
		{"huge.nii", nifti(32767, 32767, 1000, nil), nil, "bytes"},
		{"nan.npy", npy("<f4", "(2, 1, 3)", floats(0, 1, 2, 3, nan, nan)), nil, "2 values are NaN or infinite, the first at index 4 (z 1, y 0, x 1)"},
		{"inf.raw", floats(1, float32(math.Inf(1)), 2, 3), []string{"--shape", "2x2", "--type", "float32"}, "1 value is NaN or infinite, the first at index 1"},
		{"none.npy", npy("|u1", "(0, 5, 5)", nil), nil, "none.npy"},
		{"empty.nii", nil, nil, "empty"},
		{"wrong.raw", make([]byte, 26), []string{"--shape", "3x3x3", "--type", "uint8"}, "26"},
		{"noshape.raw", make([]byte, 27), nil, "shape"},
		{"text.txt", []byte("hello\n"), nil, "text.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			if err := os.WriteFile(path, c.data, 0o666); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out")
			for _, args := range [][]string{{"curve", path, "-o", out}, {"run", "--input", path, "--out", out}} {
				cmd := program(t, append(args, c.args...)...)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				cmd.Run()
				if code := cmd.ProcessState.ExitCode(); code != cli.ExitUsage {
					t.Errorf("%v: exit code %d, want %d", args, code, cli.ExitUsage)
				}
				if s := stderr.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, c.want) || !strings.Contains(s, c.name) {
					t.Errorf("%v: stderr %q, want one line with %q and the file", args, s, c.want)
				}
				if stdout.Len() > 0 {
					t.Errorf("%v: stdout %q", args, stdout.String())
				}
				if _, err := os.Stat(out); err == nil {
					t.Errorf("%v: an output was left", args)
				}
			}
		})
	}
}

// A directory that cannot be written to is one clear line, before anything runs.
func TestReadOnlyDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o555), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "--sizes", "4", "--out", filepath.Join(dir, "r.jsonl")}, {"run", "--sizes", "4", "--gobench", filepath.Join(dir, "r.txt")},
		{"curve", "noise/shape=4x4x4", "-o", filepath.Join(dir, "c.csv")}, {"curve", "noise/shape=4x4x4", "--plot", filepath.Join(dir, "c.svg")},
	} {
		cmd := program(t, args...)
		if os.Getuid() == 0 { // root may write anywhere; nobody may not
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != cli.ExitUsage {
			t.Errorf("%v: %v, want exit code %d", args, err, cli.ExitUsage)
		}
		if s := stderr.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "permission denied") || stdout.Len() > 0 {
			t.Errorf("%v: stderr %q, stdout %q", args, s, stdout.String())
		}
	}
}
