// Package kernels holds the device code: CUDA C++ sources in a folder for each workload,
// and what make kernels compiles them to, which is what a program carries, compressed:
// PTX for compute capability 7.0 and a driver of CUDA 11.8, which the driver compiles for
// its device, and machine code for the most common devices, which it loads as it is.
package kernels

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"eccbench/kernels/bundle"
	"eccbench/kernels/source"
)

//go:embed ptx/*.tar.zst
var files embed.FS

const (
	ending   = ".tar.zst"
	portable = "ptx" // in the place of an architecture
)

// modules are those of each file, by its name, which is unpacked when it is first asked for.
var modules struct {
	once sync.Once
	of   map[string]func() (map[string]bundle.File, error)
}

// unpacked are the modules. A program that does not call it does not carry them, as it would
// what a variable begins with.
func unpacked() map[string]func() (map[string]bundle.File, error) {
	modules.once.Do(func() {
		modules.of = map[string]func() (map[string]bundle.File, error){}
		list, err := files.ReadDir("ptx")
		if err != nil {
			return // an embedded folder can be read
		}
		for _, e := range list {
			modules.of[e.Name()] = sync.OnceValues(func() (map[string]bundle.File, error) {
				data, err := files.ReadFile("ptx/" + e.Name())
				if err != nil {
					return nil, err
				}
				return unpack(data)
			})
		}
	})
	return modules.of
}

func unpack(data []byte) (map[string]bundle.File, error) {
	parts, err := bundle.Unpack(data)
	modules := map[string]bundle.File{}
	for _, f := range parts {
		modules[strings.TrimSuffix(f.Name, path.Ext(f.Name))] = f
	}
	return modules, err
}

// module is a module's code for an architecture.
func module(name, arch string) (bundle.File, error) {
	modules, ok := unpacked()[source.Kind(name)+"."+arch+ending]
	if !ok {
		return bundle.File{}, fmt.Errorf("no kernels called %s for %s", name, arch)
	}
	of, err := modules()
	if err != nil {
		return bundle.File{}, fmt.Errorf("kernels %s: %w", name, err)
	}
	f, ok := of[name]
	if !ok {
		return bundle.File{}, fmt.Errorf("no kernels called %s", name)
	}
	return f, nil
}

// Names lists the modules: the sources, without folder and .cu.
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

// PTX is a module in the form that the driver compiles for its device. It is shared: the
// caller must not change it.
func PTX(name string) ([]byte, error) {
	f, err := module(name, portable)
	return f.Data, err
}

// Machine is a module in machine code for exactly that compute capability, all kernels of
// it, or nil where there is none. It is shared: the caller must not change it.
func Machine(name string, major, minor int) ([]byte, error) {
	arch := fmt.Sprintf("sm_%d%d", major, minor)
	if !slices.Contains(source.Machines(), arch) {
		return nil, nil
	}
	f, err := module(name, arch)
	return f.Data, err
}
