package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	compressed "github.com/klauspost/compress/zstd"

	"eccbench/internal/shard"
	"eccbench/kernels/bundle"
	"eccbench/kernels/source"
	"eccbench/kernels/terse"
)

// Stand-ins for the compilers write their input: clang its flags and the source, ptxas the
// architecture and the PTX. A source that contains "bad" fails.
const (
	clang = `#!/bin/sh
for file; do case $file in *.cu) source=$file;; esac; done
if grep bad $source >&2; then exit 1; fi
echo "$@"; cat $source
`
	ptxas = `#!/bin/sh
{ echo "$1"; cat "$4"; } > "$3"
`
	zstd = `#!/bin/sh
exec "$TESTED" -zstd
`
)

// TestMain is the compressor that TestPack calls.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "-zstd" {
		os.Exit(m.Run())
	}
	to, err := compressed.NewWriter(os.Stdout)
	if err == nil {
		_, err = to.ReadFrom(os.Stdin)
	}
	if errors.Join(err, to.Close()) != nil {
		os.Exit(1)
	}
}

func TestPack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	t.Chdir(t.TempDir())
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	put("bin/clang", clang)
	put("bin/ptxas", ptxas)
	put("bin/zstd", zstd)
	put("a/one.cu", "one\n")
	put("a/two_uint8.cu", "two of uint8\n")
	put("a/two_float32.cu", "two of float32\n")
	put("ptx/three.ptx.tar.zst", "of a source that is gone")
	for _, m := range source.FaultyModules() {
		put(m.File, "faulty\n")
	}
	t.Setenv("TESTED", os.Args[0])
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c := compilers{clang: filepath.Join(dir, "bin", "clang"), ptxas: filepath.Join(dir, "bin", "ptxas"), zstd: filepath.Join(dir, "bin", "zstd"), machine: shard.Shard{I: 1, N: 1}}
	list := func() []string {
		files, err := filepath.Glob("ptx/*")
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	read := func(name string) []bundle.File {
		t.Helper()
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files, err := bundle.Unpack(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}

	if err := run(c, []string{"one"}); err != nil {
		t.Fatal(err)
	}
	if got := list(); !slices.Contains(got, "ptx/one.ptx.tar.zst") || !slices.Contains(got, "ptx/three.ptx.tar.zst") || slices.Contains(got, "ptx/ecc_tiled.ptx.tar.zst") {
		t.Errorf("of one kind there are %v", got)
	}
	if err := run(c, nil); err != nil {
		t.Fatal(err)
	}
	if got := list(); slices.Contains(got, "ptx/three.ptx.tar.zst") {
		t.Errorf("there are %v", got)
	}
	first, err := os.ReadFile("ptx/two.sm_90.tar.zst")
	if err != nil {
		t.Fatal(err)
	}
	ptx, machine := read("ptx/two.ptx.tar.zst"), read("ptx/two.sm_90.tar.zst")
	for i, name := range []string{"two_float32", "two_uint8"} {
		m := source.Module{File: "a/" + name + ".cu"}
		stamp, err := m.Stamp(os.DirFS("."))
		if err != nil {
			t.Fatal(err)
		}
		of := strings.ReplaceAll(name, "_", " of ") + "\n"
		text := stamp + "\n" + strings.Join(m.Flags(), " ") + " -o -\n" + of
		plain, err := terse.Plain([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(ptx) != 2 || ptx[i].Name != name+".ptx" || ptx[i].Stamp != stamp || !bytes.Equal(terse.Long(ptx[i].Data), plain) {
			t.Errorf("the PTX is %q, want %q", ptx, plain)
		}
		if len(machine) != 2 || machine[i].Name != name+".cubin" || machine[i].Stamp != stamp || string(machine[i].Data) != "-arch=sm_90\n"+string(plain) {
			t.Errorf("the machine code is %q", machine)
		}
	}
	if got, want := len(read("faults/faults.ptx.tar.zst")), len(source.FaultyModules()); got != want {
		t.Errorf("%d modules with faults, want %d", got, want)
	}
	if err := run(c, nil); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile("ptx/two.sm_90.tar.zst"); err != nil || !bytes.Equal(again, first) {
		t.Errorf("generated again the bytes differ, %v", err)
	}
	// Of the two kinds, one gets new machine code with each shard; all get new PTX.
	put("a/one.cu", "one again\n")
	put("a/two_uint8.cu", "two again\n")
	for at, want := range [][2]bool{{true, false}, {true, true}} {
		part := c
		part.machine = shard.Shard{I: int64(at + 1), N: 2}
		if err := run(part, []string{"one", "two"}); err != nil {
			t.Fatal(err)
		}
		again := func(kind, form string) bool { // whether a file is made from the changed sources
			files := read(file(kind, form))
			return bytes.Contains(terse.Long(files[len(files)-1].Data), []byte("again"))
		}
		if got := [2]bool{again("one", "sm_80"), again("two", "sm_90")}; got != want || !again("one", "ptx") || !again("two", "ptx") {
			t.Errorf("%v: new machine code of one and two: %v, want %v", part.machine, got, want)
		}
	}

	put("a/one.cu", "bad\n")
	put("ptx/three.ptx.tar.zst", "")
	if err := run(c, nil); err == nil || !strings.Contains(err.Error(), "one: ") || !strings.Contains(err.Error(), "bad") {
		t.Errorf("a source that does not compile: %v", err)
	}
	if !slices.Contains(list(), "ptx/three.ptx.tar.zst") {
		t.Error("files were removed though a source did not compile")
	}
	if err := run(c, []string{"none"}); err == nil || err.Error() != "no kernels called none" {
		t.Errorf("a kind that does not exist: %v", err)
	}
}
