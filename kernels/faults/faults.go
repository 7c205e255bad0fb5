// Package faults holds kernels with known defects for devices, so that tests of the
// harness can show that they are caught there. Nothing but tests imports it. The faults
// are planted in the kernels of one type (kernels/ecc/fault.h). Most are tried on the
// host alone (kernels/onhost).
package faults

import (
	_ "embed"
	"fmt"
	"strings"

	"eccbench/kernels/bundle"
	"eccbench/kernels/terse"
)

//go:embed faults.ptx.tar.zst
var file []byte

// modules are the PTX of modules with a fault, by their names.
func modules() map[string][]byte {
	files, err := bundle.Unpack(file)
	if err != nil {
		panic(err) // it is embedded
	}
	all := map[string][]byte{}
	for _, f := range files {
		all[strings.TrimSuffix(f.Name, ".ptx")] = terse.Long(f.Data)
	}
	return all
}

// PTX gives the compiled form of sources with one fault, as kernels.PTX gives it
// without.
func PTX(fault string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		ptx, ok := modules()[name+"."+fault]
		if !ok {
			return nil, fmt.Errorf("no kernels called %s with the fault %s", name, fault)
		}
		return ptx, nil
	}
}

// Misbehaving is the compiled form of misbehave.cu: kernels that do not count
// but fail.
func Misbehaving() []byte { return modules()["misbehave"] }
