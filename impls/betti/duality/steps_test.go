package duality_test

import (
	"testing"

	"eccbench/impls/betti/duality"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting/countingtest"
	"eccbench/internal/workloads/ecc/ecctest"
)

// BenchmarkSteps measures each kernel in milliseconds, starting with an empty second-level cache.
func BenchmarkSteps(b *testing.B) {
	for _, name := range []string{
		"betti/at=127/of=noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=78/of=noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=-1/of=grf/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=0/of=serpent/shape=1024x1024x1024/type=uint8",
		"betti/at=0/of=constant/shape=1024x1024x1024/type=uint8",
		"betti/at=127/of=noise/shape=1000x1000x1000/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=16384x16384/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=512x512x512/levels=256/type=uint8/seed=1",
		"betti/at=127/of=noise/shape=512x512x512/levels=256/type=float32/seed=1",
	} {
		b.Run(name, func(b *testing.B) {
			in, err := betti.Inputs{}.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			countingtest.Steps(b, duality.OnDevice(ecctest.Device(b)), in, in.Shape().Voxels())
		})
	}
}
