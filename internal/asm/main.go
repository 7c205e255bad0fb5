// Command asm writes all assembly of the program, and the Go declarations of its functions:
//
//	cd internal/asm && go run .
//
// A package here has the functions of one family; package ops has the operations that they share.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"

	"github.com/mmcloughlin/avo/build"

	"eccbench/internal/asm/betticurves"
	"eccbench/internal/asm/bits"
	"eccbench/internal/asm/eigenmap"
	"eccbench/internal/asm/extrema"
	"eccbench/internal/asm/fingerprint"
	"eccbench/internal/asm/flow"
	. "eccbench/internal/asm/ops"
	"eccbench/internal/asm/vectors"
)

// files are the files of assembly, without their instruction set.
var files = []struct {
	name  string
	write func(ISA)
	isas  []ISA
}{
	{"datasets/vectors/vector", vectors.Write, both},
	{"impls/assess/runs/kernel", bits.Assess, both[:1]},
	{"impls/betti/duality/kernel", bits.Betti, both},
	{"impls/betticurves/duality/kernel", betticurves.Write, both},
	{"impls/eigenmap/multigrid/kernel", eigenmap.Multigrid, both[1:]},
	{"impls/eigenmap/windowed/kernel", eigenmap.Windowed, both[1:]},
	{"impls/extrema/kernel", extrema.Write, both},
	{"impls/softecc/binned/kernel", extrema.Binned, both},
	{"internal/workloads/betti/flood/flood", bits.Flood, both[:1]},
	{"internal/workloads/betti/unions/unions", bits.Unions, both},
	{"internal/workloads/ecc/cells/planes", bits.Cells, both},
	{"internal/workloads/ecc/fingerprint/vector", fingerprint.Write, both},
	{"internal/workloads/eigenmap/algebra/kernel", eigenmap.Systems, both[1:]},
	{"internal/workloads/eigenmap/inertia/kernel", eigenmap.Inertia, both},
	{"internal/workloads/eigenmap/kernel", eigenmap.Certify, both[1:]},
	{"internal/workloads/gvf/definition", flow.Define, both},
	{"internal/workloads/gvf/rows/vector", flow.Write, both},
}

var both = []ISA{AVX512, AVX2}

func main() {
	only, isa := flag.String("file", "", "write one file alone"), flag.String("isa", "avx2", "its instruction set")
	flag.Parse()
	os.Args = []string{"asm", "#", "in", "internal/asm"} // which the files quote
	for _, f := range files {
		if *only == f.name {
			build.ConstraintExpr("!noasm")
			f.write(map[string]ISA{"avx512": AVX512, "avx2": AVX2}[*isa])
			build.Generate()
			return
		}
		if *only != "" {
			continue
		}
		for _, isa := range f.isas {
			if err := write(f.name, isa.Name); err != nil {
				fmt.Fprintf(os.Stderr, "asm: %s for %s: %v\n", f.name, isa.Name, err)
				os.Exit(1)
			}
		}
	}
}

// write writes a file in a process of its own, since avo has one list of functions in each.
func write(name, isa string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	to := "../../" + name + "_" + isa + "_amd64"
	c := exec.Command(self, "-file", name, "-isa", isa, "-out", to+".s", "-stubs", to+".go",
		"-pkg", path.Base(path.Dir(name)))
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}
