// Package kernels holds the device code: CUDA C++ sources, and beside each the
// PTX that make kernels compiles it to, which is what a program carries. The PTX
// needs compute capability 7.0 and a driver of CUDA 11.8.
package kernels

import (
	"embed"
	"fmt"
)

//go:embed *.ptx
var files embed.FS

// PTX is the compiled form of the source kernels/<name>.cu.
func PTX(name string) ([]byte, error) {
	ptx, err := files.ReadFile(name + ".ptx")
	if err != nil {
		return nil, fmt.Errorf("no kernels called %s", name)
	}
	return ptx, nil
}
