package kernels

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"eccbench/kernels/source"
)

// Every source has PTX and machine code with the stamp of the current source, and there is no other
// code.
func TestCodeIsOfTheSources(t *testing.T) {
	modules, err := source.Modules(os.DirFS("."))
	if err != nil || len(modules) == 0 {
		t.Fatalf("%d sources, %v", len(modules), err)
	}
	var names []string
	kinds := map[string]bool{}
	for _, m := range modules {
		name := m.Name()
		names = append(names, name)
		kinds[source.Kind(name)] = true
		stamp, err := m.Stamp(os.DirFS("."))
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := PTX(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if first, _, _ := bytes.Cut(ptx, []byte("\n")); string(first) != stamp {
			t.Errorf("%s begins with %q, want %q: run make kernels", name, first, stamp)
		}
		for _, want := range []string{".version 7.8\n", ".target " + m.Target() + "\n"} {
			if !bytes.Contains(ptx, []byte(want)) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		for _, arch := range source.Machines() {
			f, err := module(name, arch)
			if err != nil || f.stamp != stamp {
				t.Errorf("%s for %s is of %q, want %q: run make kernels (%v)", name, arch, f.stamp, stamp, err)
			}
		}
	}
	if !slices.Equal(Names(), names) {
		t.Errorf("there are %v, want %v: run make kernels", Names(), names)
	}
	if want := len(kinds) * (1 + len(source.Machines())); len(unpacked()) != want {
		t.Errorf("%d files, want %d: run make kernels", len(unpacked()), want)
	}
	for _, name := range []string{"ecc_none", "ecc_tiled_float32", ""} {
		if _, err := PTX(name); err == nil {
			t.Errorf("kernels called %q, which do not exist, were found", name)
		}
	}
}

// Several goroutines receive the same code, which is unpacked once.
func TestUnpackedOnce(t *testing.T) {
	list := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range list {
		wg.Go(func() { list[i], _ = PTX("smooth") })
	}
	wg.Wait()
	for _, ptx := range list {
		if len(ptx) == 0 || &ptx[0] != &list[0][0] {
			t.Error("a module was unpacked more than once")
		}
	}
}

// The unpacking at a program's start.
func BenchmarkUnpack(b *testing.B) {
	for _, file := range []string{"ecc_extrema.sm_90", "ecc_extrema.ptx"} {
		b.Run(file, func(b *testing.B) {
			data, err := files.ReadFile("ptx/" + file + ending)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				modules, err := unpack(data, nil, strings.HasSuffix(file, portable))
				if err != nil || len(modules["ecc_extrema_float32"].data()) == 0 {
					b.Fatalf("%d modules, %v", len(modules), err)
				}
			}
		})
	}
}

// A wheel compresses the kernels of the same family as read expects.
func TestFamilyOfWheels(t *testing.T) {
	hook, err := os.ReadFile("../python/hatch_build.py")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("FAMILY = %q\n", family); !strings.Contains(string(hook), want) {
		t.Errorf("python/hatch_build.py has no line %q", want)
	}
}
