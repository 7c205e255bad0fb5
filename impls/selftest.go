package impls

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"eccbench/datasets"
	"eccbench/impls/betti/duality"
	"eccbench/impls/betti/labels"
	curvesduality "eccbench/impls/betticurves/duality"
	eigenmultigrid "eccbench/impls/eigenmap/multigrid"
	"eccbench/impls/eigenmap/windowed"
	"eccbench/impls/extrema"
	"eccbench/impls/gvf/blocked"
	"eccbench/impls/softecc/binned"
	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/isa"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
	"eccbench/internal/workloads/softecc"
)

// SelfTest compares the vector kernels of the program with Go code on this processor, on small
// random inputs. It returns the instruction sets that it compared. Its error names the kernels and
// the input, with its seed, of the first difference.
func SelfTest() (isas []string, err error) {
	seed := rand.Uint32()
	for _, test := range []struct {
		kernels string
		of      func(seed uint32) error
	}{
		{"generators", datasets.SelfTest},
		{"fingerprint", fingerprints},
		{"ecc", curves},
		{"betti", numbers},
		{"softecc", softCurves},
		{"gvf", flows},
		{"eigenmap", eigenmap.SelfTest},
		{"eigenmap multigrid", eigenmultigrid.SelfTest},
		{"eigenmap windowed", windowed.SelfTest},
	} {
		if err := test.of(seed); err != nil {
			return nil, fmt.Errorf("self-test of the vector kernels of %s: %w", test.kernels, err)
		}
	}
	isas = extrema.Implementation{}.About().ISAs
	return isas[:len(isas)-1], nil // without Go alone, the last
}

// noise are images of every type, on ladders of every width and arithmetic, whose rows end within and beyond
// a vector, and values between levels.
func noise(seed uint32) (names []string) {
	for _, image := range []string{
		"shape=150x9x3/type=uint8/levels=7", "shape=70x6x5/type=int16/levels=500", "shape=150x9/type=uint16/levels=300",
		"shape=70x6x5/type=float32/levels=64/lo=-3", "shape=150x9/type=float32/levels=99/lo=-3.3/step=0.1",
		"shape=70x6x5/type=float32/levels=2000/lo=-3", "shape=150x9/type=float32/levels=2000/lo=-3.3/step=0.1",
		"shape=70x6x5/type=float32/levels=70000/lo=-4/step=0.001",
	} {
		names = append(names, fmt.Sprintf("noise/%s/seed=%d", image, seed))
	}
	for _, image := range []string{"shape=150x9/levels=200", "shape=150x9/levels=2000/lo=-3.3/step=0.1"} { // not on levels
		names = append(names, fmt.Sprintf("between/%s/seed=%d", image, seed))
	}
	return names
}

func fingerprints(seed uint32) error {
	for _, name := range noise(seed) {
		image, err := fields.Inputs{}.Open(name)
		if err != nil {
			return err
		}
		images := []grid.Source{image}
		if image.Type() == grid.Float32 { // also with every number a level of its own
			f, err := grid.Load(image)
			if err != nil {
				return err
			}
			every, err := grid.NewField(f.Shape(), f.Type(), f.Data(), grid.Identity(grid.Float32))
			if err != nil {
				return err
			}
			images = append(images, every)
		}
		for _, image := range images {
			isa, _, _, err := fingerprint.DifferingISA(image, fingerprint.Draw(2), 1)
			if err != nil {
				return err
			}
			if isa != "" {
				return fmt.Errorf("%s: %s instructions of this processor give another result than the fastest ones do", name, isa)
			}
		}
	}
	return nil
}

func curves(seed uint32) error {
	images := fields.Inputs{}
	chi := bench.Workload[grid.Source, ecc.VCEC]{Inputs: images, Policy: ecc.Policy(),
		Impls: []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}}}
	all := betti.CurvesWorkload(curvesduality.Implementation{Counter: extrema.Implementation{}})
	all.Inputs = images
	return errors.Join(byInstructions(chi, noise(seed)...), byInstructions(all, noise(seed)...), betti.SelfTest(seed))
}

// numbers compares implementations without a choice of instruction sets: those with vector kernels
// and flood fill with one that has none.
func numbers(seed uint32) error {
	w := betti.Workload()
	for _, of := range []string{"noise/shape=600x7x4/type=uint8/levels=5",
		"grf/shape=600x7x4/type=uint8/levels=5/smooth=3", "noise/shape=600x7/type=int16/levels=5"} {
		name := fmt.Sprintf("betti/at=2/of=%s/seed=%d", of, seed)
		in, err := w.Inputs.Open(name)
		if err != nil {
			return err
		}
		c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}}
		want, err := bench.Answer(labels.Implementation{}, in, c)
		if err != nil {
			return err
		}
		dual, err := bench.Answer(duality.Implementation{}, in, c)
		if err != nil {
			return err
		}
		flooded, err := betti.ByFlooding(in, ecc.Convention{})
		if err != nil {
			return err
		}
		for kernels, got := range map[string]betti.Numbers{"duality": dual, "flood fill": flooded} {
			if d, _ := w.Policy.Compare(in, want, got); d != nil {
				return fmt.Errorf("%s of %s: vector instructions of this processor give another result than Go code does", kernels,
					name)
			}
		}
	}
	return nil
}

func softCurves(seed uint32) error {
	inputs := named("softecc/m=5/lambda=20/alpha=0.1/dir=1", seed)
	return byInstructions(softecc.Workload(binned.Implementation{}), inputs...)
}

func flows(seed uint32) error {
	inputs := named("gvf/steps=3/mu=0.05/boundary=0", seed)
	return errors.Join(byInstructions(gvf.Steps(blocked.Implementation{}), inputs...), rows.SelfTest(seed),
		gvf.SelfTest(seed))
}

// named are the names of questions about noise.
func named(question string, seed uint32) (names []string) {
	for _, of := range noise(seed) {
		names = append(names, question+"/of="+of)
	}
	return names
}

// byInstructions compares the answers of implementations by each instruction set, to each of some inputs.
func byInstructions[In, Out any](w bench.Workload[In, Out], names ...string) error {
	for _, i := range w.Impls {
		for _, name := range names {
			in, err := w.Inputs.Open(name)
			if err != nil {
				return err
			}
			same := func(want, got Out) bool {
				d, _ := w.Policy.Compare(in, want, got)
				return d == nil
			}
			err = isa.Compare(i.About().ISAs, same, func(isa string) (Out, error) {
				return bench.Answer(i, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1, ISA: isa}})
			})
			if err != nil {
				return fmt.Errorf("%s of %s: %w", i.About().Name, name, err)
			}
		}
	}
	return nil
}
