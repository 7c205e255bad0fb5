package labels_test

import (
	"testing"

	"eccbench/impls/betti/labels"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting/countingtest"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/hosttest"
)

// Launches are slow on the host, so only some images are labelled there.
func TestKernelsOnHost(t *testing.T) {
	driver := devicetest.New(1, hosttest.Modules(t, "", "betti_labels"))
	testKernels(t, ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil })), 3)
}

func TestKernelsOnDevice(t *testing.T) { testKernels(t, ecctest.Device(t), 1) }

// testKernels compares the kernels with a core, twice.
func testKernels(t *testing.T, open resident.Opener, each int) {
	t.Helper()
	scopes := labels.OnDevice(nil).About().Scopes
	for i, name := range betti.Workload().Adversarial {
		if i%each != 0 {
			continue
		}
		in, err := betti.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := bench.Answer(labels.Implementation{}, in, bench.Conditions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := countingtest.Differs(labels.OnDevice(open), in, scopes[i/each%len(scopes)], 2, betti.Poisoned, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
