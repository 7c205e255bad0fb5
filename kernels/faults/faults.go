// Package faults holds device kernels with known defects, so that tests of the harness can show
// that the defects are caught on a device. Only tests import it. The defects are planted in the
// kernels of one type (kernels/ecc/fault.h). Most defects are tested on the host only
// (kernels/onhost).
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

// modules returns the PTX of the modules with a defect, by name.
func modules() map[string][]byte {
	files, err := bundle.Unpack(file, nil)
	if err != nil {
		panic(err) // the file is embedded
	}
	all := map[string][]byte{}
	for _, f := range files {
		all[strings.TrimSuffix(f.Name, ".ptx")] = terse.Long(f.Data)
	}
	return all
}

// PTX returns a function that returns the PTX of a module with one defect. It replaces kernels.PTX.
func PTX(fault string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		ptx, ok := modules()[name+"."+fault]
		if !ok {
			return nil, fmt.Errorf("no kernels called %s with the fault %s", name, fault)
		}
		return ptx, nil
	}
}

// Misbehaving returns the PTX of misbehave.cu: kernels that fail instead of counting.
func Misbehaving() []byte { return modules()["misbehave"] }
