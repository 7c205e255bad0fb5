// Package kernels holds the device code: CUDA C++ sources, one folder per workload, and their
// compiled forms (make kernels), which a program embeds in compressed form. The driver compiles
// PTX, which needs a driver of CUDA 11.8 and compute capability 7.0, or 8.0 for some modules
// (source.Module.Target). Machine code, for the most common devices, is loaded directly. With -tags
// ptxonly a program embeds machine code of one kind only.
package kernels

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"eccbench/kernels/bundle"
	"eccbench/kernels/source"
	"eccbench/kernels/terse"
)

const (
	ending   = ".tar.zst"
	portable = "ptx" // in place of an architecture
)

// modules maps the name of each embedded file to its modules. A file is unpacked at the first
// request.
var modules struct {
	once sync.Once
	of   map[string]func() (map[string]code, error)
}

// unpacked returns the modules by file. It is a function, not an initialized variable, so that the
// linker drops the files from a program that does not call it.
func unpacked() map[string]func() (map[string]code, error) {
	modules.once.Do(func() {
		modules.of = map[string]func() (map[string]code, error){}
		list, err := files.ReadDir("ptx")
		if err != nil {
			return // an embedded folder can be read
		}
		for _, e := range list {
			modules.of[e.Name()] = sync.OnceValues(func() (map[string]code, error) {
				data, before, err := read(e.Name())
				if err != nil {
					return nil, err
				}
				return unpack(data, before, strings.HasSuffix(e.Name(), "."+portable+ending))
			})
		}
	})
	return modules.of
}

// family is a kind of kernels. A wheel has the PTX of kinds whose names continue its name compressed
// after its own.
const family = "ecc_extrema"

// read returns an embedded file, and the archive that it may be compressed after.
func read(name string) (data, before []byte, err error) {
	if data, err = files.ReadFile("ptx/" + name); err != nil || !strings.HasPrefix(name, family+"_") {
		return data, nil, err
	}
	first, err := files.ReadFile("ptx/" + family + "." + portable + ending)
	if err == nil {
		before, err = bundle.Decompress(first, nil)
	}
	return data, before, err
}

// A code is the compiled form of a module. PTX is stored in short form, and is expanded at the
// first request.
type code struct {
	stamp string
	data  func() []byte
}

func unpack(data, before []byte, text bool) (map[string]code, error) {
	parts, err := bundle.Unpack(data, before)
	modules := map[string]code{}
	for _, f := range parts {
		data := func() []byte { return f.Data }
		if text {
			data = sync.OnceValue(func() []byte { return terse.Long(f.Data) })
		}
		modules[strings.TrimSuffix(f.Name, path.Ext(f.Name))] = code{f.Stamp, data}
	}
	return modules, err
}

// module returns a module's code for an architecture, or for portable its PTX.
func module(name, arch string) (code, error) {
	modules, ok := unpacked()[source.Kind(name)+"."+arch+ending]
	if !ok {
		return code{}, fmt.Errorf("no kernels called %s for %s", name, arch)
	}
	of, err := modules()
	if err != nil {
		return code{}, fmt.Errorf("kernels %s: %w", name, err)
	}
	f, ok := of[name]
	if !ok {
		return code{}, fmt.Errorf("no kernels called %s", name)
	}
	return f, nil
}

// Names lists the modules by the names of their sources, without folder and .cu.
func Names() []string {
	var names []string
	for file, modules := range unpacked() {
		if !strings.HasSuffix(file, "."+portable+ending) {
			continue
		}
		of, err := modules()
		if err != nil {
			return nil // an embedded file can be unpacked
		}
		for name := range of {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// PTX returns the PTX of a module, which a driver compiles for its device. The result is shared:
// the caller must not change it.
func PTX(name string) ([]byte, error) {
	m, err := module(name, portable)
	if err != nil {
		return nil, err
	}
	return m.data(), nil
}

// Machine returns the machine code of all kernels of a module for exactly that compute capability.
// It returns nil if none is embedded. The result is shared: the caller must not change it.
func Machine(name string, major, minor int) ([]byte, error) {
	arch := fmt.Sprintf("sm_%d%d", major, minor)
	if _, ok := unpacked()[source.Kind(name)+"."+arch+ending]; !ok {
		_, err := module(name, portable)
		return nil, err
	}
	m, err := module(name, arch)
	if err != nil {
		return nil, err
	}
	return m.data(), nil
}
