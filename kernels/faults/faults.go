// Package faults holds kernels with known defects, so that tests of the harness
// can show that they are caught. Nothing but tests imports it. The faults are
// planted in the kernels of one type (kernels/fault.h).
package faults

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed *.ptx
var files embed.FS

// Of lists the faults that are planted in the source kernels/<name>.cu.
func Of(name string) []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is embedded
	}
	var list []string
	for _, e := range entries {
		if fault, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), path.Ext(e.Name())), name+"."); ok {
			list = append(list, fault)
		}
	}
	return list
}

// PTX gives the compiled form of sources with one fault, as kernels.PTX gives it
// without.
func PTX(fault string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		ptx, err := files.ReadFile(name + "." + fault + ".ptx")
		if err != nil {
			return nil, fmt.Errorf("no kernels called %s with the fault %s", name, fault)
		}
		return ptx, nil
	}
}

// Misbehaving is the compiled form of misbehave.cu: kernels that do not count
// but fail.
func Misbehaving() []byte {
	ptx, err := files.ReadFile("misbehave.ptx")
	if err != nil {
		panic(err) // it is embedded
	}
	return ptx
}
