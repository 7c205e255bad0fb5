// Package kernels holds the device code: CUDA C++ sources, and beside each the
// PTX that make kernels compiles it to, which is what a program carries. The PTX
// needs compute capability 7.0 and a driver of CUDA 11.8.
package kernels

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.ptx
var files embed.FS

// Names lists the sources, without .cu.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // an embedded folder can be read
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".ptx"))
	}
	return names
}

// PTX is the compiled form of the source kernels/<name>.cu.
func PTX(name string) ([]byte, error) {
	ptx, err := files.ReadFile(name + ".ptx")
	if err != nil {
		return nil, fmt.Errorf("no kernels called %s", name)
	}
	return ptx, nil
}
