package dense

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc"
	"eccbench/internal/workloads/softecc/softtest"
)

func onDevice(open resident.Opener) bench.Implementation[*softecc.Problem, softecc.Answer] {
	return OnDevice{Open: open}
}

// The kernels agree with the definition on all problems, in both constructions.
func TestKernelsOnHost(t *testing.T) { testKernels(t, softtest.OnHost(t, "softecc_dense"), 3) }

func TestKernelsOnDevice(t *testing.T) { testKernels(t, ecctest.Device(t), len(softtest.Inputs())) }

func testKernels(t *testing.T, open resident.Opener, again int) {
	t.Helper()
	names := softtest.Inputs()
	names = append(names, "softecc/m=33/lambda=100/alpha=100/dir=1/vertices=1/of=noise/shape=12x11x10/type=int16/levels=300/seed=5")
	for name, err := range softtest.Run(t, onDevice, open, again, names) {
		t.Errorf("%s: refused: %v", name, err)
	}
	softtest.Far(t, onDevice, open)
	softtest.Offset(t, onDevice, open)
}

// Numbers beyond float32 are rejected.
func TestNumbersRefusedOnHost(t *testing.T) {
	open := softtest.OnHost(t, "softecc_dense")
	for what, change := range map[string]func(*softecc.Problem){
		"nothing": func(*softecc.Problem) {}, "λ too small": func(p *softecc.Problem) { p.Lambda = 1e-40 }, "a threshold": func(p *softecc.Problem) { p.Tau[1] = 1e39 },
		"no λ": func(p *softecc.Problem) { p.Lambda = -1 },
	} {
		p := softtest.Open(t, softtest.Inputs()[0])
		change(p)
		if err := onDevice(open).CanDo(p, bench.Conditions{}); (err == nil) != (what == "nothing") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := onDevice(open).CanDo(softtest.Open(t, softtest.Inputs()[0]), bench.Conditions{Memory: 1}); err == nil {
		t.Error("takes more memory than is allowed")
	}
}
