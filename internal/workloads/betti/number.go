package betti

import (
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// NumberOf is the question of one number that follows from the Betti numbers of a set, such as its
// Euler characteristic, for programs that compute only that. The number is B0 of an answer.
// Implementations on a device are left out.
func NumberOf(
	w bench.Workload[*Image, Numbers], name, doc string, of func(Numbers) int64,
) bench.Workload[*Image, Numbers] {
	w.Name, w.Doc = name, doc
	w.Impls = slices.Clone(w.Impls)
	w.Impls = slices.DeleteFunc(w.Impls, func(i bench.Implementation[*Image, Numbers]) bool {
		return i.About().Where != "cpu"
	})
	for i, impl := range w.Impls {
		w.Impls[i] = numberer{impl, of}
	}
	flooding := Flooding(ecc.Convention{})
	flooding.Check = func(in *Image, out Numbers, _ ask) (*verify.Diff, error) {
		want, err := ByFlooding(in, ecc.Convention{})
		if err != nil {
			return nil, err
		}
		return sameNumber(in, Numbers{B0: of(want)}, out), nil
	}
	w.Policy = verify.Policy[*Image, Numbers]{Agree: sameNumber, Weak: weak}
	w.Policy.Laws = verify.Bounded(append([]law{flooding}, invariants()...), func(i *Image) int64 {
		return 8 * i.Shape().Voxels()
	})
	return w
}

// sameNumber returns a diff of two answers to NumberOf.
func sameNumber(in *Image, want, got Numbers) *verify.Diff {
	d := agree(in, want, got)
	if d != nil {
		d.Where, d.Context = "the number", ""
	}
	return d
}

// A numberer answers with one number.
type numberer struct {
	bench.Implementation[*Image, Numbers]
	of func(Numbers) int64
}

func (n numberer) Setup(in *Image, c bench.Conditions) (bench.Job[Numbers], error) {
	job, err := n.Implementation.Setup(in, c)
	return number{job, n.of}, err
}

// A number job computes its number from those of a job.
type number struct {
	bench.Job[Numbers]
	of func(Numbers) int64
}

func (n number) Out() (Numbers, error) {
	out, err := n.Job.Out()
	if err != nil || out == Poisoned {
		return out, err
	}
	return Numbers{B0: n.of(out)}, nil
}
