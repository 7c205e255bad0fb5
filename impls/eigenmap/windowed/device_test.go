package windowed

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func onHost(t *testing.T, fault string) resident.Opener {
	return ecctest.Modules(t, fault, "eigenmap_near")
}

// Problems with several tiles, some of them far apart, with patches of more than four words, and
// with few patches, whose space is soon complete.
const (
	tiled = "eigenmap-patch/k=2/tol=5/alpha=400/beta=3/side=1/of=noise/shape=100x1/type=uint8/levels=7/seed=5"
	deep  = "eigenmap-patch/k=3/tol=8/alpha=60/beta=5/side=4/of=noise/shape=16x13x12/type=uint8/seed=5"
	whole = "eigenmap-patch/k=3/tol=9/alpha=40/beta=2/side=4/of=ball/shape=20x24/type=uint8"
)

func TestKernelsOnHost(t *testing.T) {
	few := eigenmap.OnPatches().Adversarial[0]
	eigentest.Kernels(t, eigenmap.OnPatches, OnDevice{Open: onHost(t, "")}, true, few, deep, whole, tiled)
}

func TestKernelsOnDevice(t *testing.T) {
	eigentest.Kernels(t, eigenmap.OnPatches, OnDevice{Open: ecctest.Device(t)}, false, append(eigenmap.OnPatches().Adversarial, deep, whole, tiled)...)
}

func TestFaultsAreSeenOnHost(t *testing.T) {
	for fault, by := range map[string]string{"diagonal": whole, "window": tiled} {
		t.Run(fault, func(t *testing.T) {
			eigentest.CheckRejected(t, eigenmap.OnPatches, OnDevice{Open: onHost(t, fault)}, by)
		})
	}
}

func TestRefusalsOfDevices(t *testing.T) {
	open := ecctest.Modules(t, "")
	eigentest.Refusals(t, OnDevice{Open: open}, eigenmap.OnPatches, "eigenmap-patch/k=2/tol=8/alpha=40/beta=5/side=4/of=noise/shape=40x32/type=uint8/seed=5",
		map[string]bench.Conditions{"pairs of patches × 1 ns": {Time: 1}, "vectors of 80 numbers": {Memory: 1000}})
}
