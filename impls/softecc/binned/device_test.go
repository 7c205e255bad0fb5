package binned_test

import (
	"slices"
	"strings"
	"testing"

	"eccbench/impls/softecc/binned"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc/softtest"
)

func onDevice(open resident.Opener) implementation { return binned.OnDevice{Open: open} }

// onHost returns the kernels, compiled for the host, on a stand-in for a device.
func onHost(t *testing.T) resident.Opener {
	return softtest.OnHost(t, "softecc_curve", "softecc_direct", "softecc_uint8", "softecc_int16", "softecc_uint16",
		"softecc_float32")
}

// The kernels agree with the definition wherever they do not reject. They reject problems with
// vertices and sigmoids too steep for bins. Tens of thousands of bins are slow on the host, and
// launches do not differ, so only some problems are repeated.
func TestKernelsOnHost(t *testing.T) {
	testKernels(t, onHost(t), 3, slices.DeleteFunc(softtest.Inputs(), func(name string) bool {
		return strings.Contains(name, "/lambda=1000/alpha=100/")
	}))
}

func TestKernelsOnDevice(t *testing.T) {
	testKernels(t, ecctest.Device(t), len(softtest.Inputs()), softtest.Inputs())
}

func testKernels(t *testing.T, open resident.Opener, again int, names []string) {
	t.Helper()
	refused, refusals := softtest.Run(t, onDevice, open, again, names), 0
	for _, name := range names {
		err := refused[name]
		if strings.Contains(name, "/vertices=1/") {
			if err == nil || !strings.Contains(err.Error(), "vertices") {
				t.Errorf("%s: %v, want it refused", name, err)
			}
		} else if err != nil {
			refusals++
			t.Logf("%s: refused: %v", name, err)
		}
	}
	if refusals > 1 {
		t.Errorf("%d problems of %d were refused", refusals, len(names))
	}
}

// Thresholds far from all voxels count all changes or none.
func TestKernelsFarOnHost(t *testing.T) { testFar(t, onHost(t)) }

func TestKernelsFarOnDevice(t *testing.T) { testFar(t, ecctest.Device(t)) }

func testFar(t *testing.T, open resident.Opener) {
	t.Helper()
	softtest.Far(t, onDevice, open)
	softtest.Offset(t, onDevice, open)
}
