package impls_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
)

// The faults of libraries in reports/peers.md are found by the adversarial inputs of their workloads, which verify has
// without --input.
func TestAdversarialInputsFindFaults(t *testing.T) {
	file, err := os.Open("../reports/runs/peers.jsonl.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := bench.Decompress(file)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	records, err := bench.ReadRecords(plain)
	if err != nil {
		t.Fatal(err)
	}
	benches := impls.With(impls.List(nil), nil).Benches
	for _, fault := range []struct {
		workload, impl string
		status         verify.Status
	}{
		{"ecc", "peer:mahotas-unpadded", verify.Wrong}, {"ecc-v", "peer:cripser", verify.Wrong},
		{"ecc-v", "peer:quantimpy", verify.Wrong}, {"betti", "peer:cc3d", verify.Crashed},
		{"eigenmap", "peer:arpack", verify.Wrong}, {"eigenmap", "peer:lobpcg", verify.Wrong},
		{"eigenmap", "peer:scikit-learn", verify.Wrong},
	} {
		b, err := runner.Find(benches, fault.workload)
		if err != nil {
			t.Fatal(err)
		}
		var inputs []string
		for _, name := range b.Question().Adversarial {
			inputs = append(inputs, canonical(t, name))
		}
		if !slices.ContainsFunc(records.Cells, func(c bench.CellRecord) bool {
			return c.Workload == fault.workload && c.Impl == fault.impl && c.Status == fault.status &&
				slices.Contains(inputs, canonical(t, c.Input))
		}) {
			t.Errorf("%s, %s: no adversarial input of the workload is %s", fault.impl, fault.workload, fault.status)
		}
	}
}

// canonical returns an input string with its image in canonical form.
func canonical(t *testing.T, name string) string {
	question, image, ok := strings.Cut(name, "of=")
	if !ok {
		question, image = "", name
	}
	image, err := datasets.Canonical(image)
	if err != nil {
		t.Fatal(err)
	}
	return question + image
}
