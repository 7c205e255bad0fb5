package lanczos

import (
	"testing"

	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func onHost(t *testing.T, fault string) resident.Opener {
	return ecctest.Modules(t, fault, "eigenmap_dense")
}

// Few patches, in three tiles and in two, of four words and of more. Launches are slow on the host.
func TestKernelsOnHost(t *testing.T) {
	all := eigenmap.BySteps().Adversarial
	eigentest.Kernels(t, eigenmap.BySteps, OnDevice{Open: onHost(t, "")}, true, all[0], few, all[3])
}

const few = "eigenmap-lanczos/steps=5/alpha=40/beta=5/side=4/start=1/of=ball/shape=80x64/type=uint8"

func TestKernelsOnDevice(t *testing.T) {
	eigentest.Kernels(t, eigenmap.BySteps, OnDevice{Open: ecctest.Device(t)}, false, eigenmap.BySteps().Adversarial...)
}

func TestFaultsAreSeenOnHost(t *testing.T) {
	for _, fault := range []string{"diagonal", "mirror", "once"} {
		t.Run(fault, func(t *testing.T) {
			eigentest.CheckRejected(t, eigenmap.BySteps, OnDevice{Open: onHost(t, fault)}, few)
		})
	}
}
