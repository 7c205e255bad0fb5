package betti

import (
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// NumberOf returns the workload of one number that follows from the Betti numbers of a set, such as
// its Euler characteristic. It is for programs that compute only that. The number is B0 of an
// answer. Implementations on a device are left out.
func NumberOf(
	w bench.Workload[*Image, Numbers], name, doc string, of func(Numbers) int64,
) bench.Workload[*Image, Numbers] {
	impls := w.Impls
	w.Name, w.Doc, w.Impls = name, doc, nil
	for _, impl := range impls {
		if impl.About().Where == "cpu" {
			w.Impls = append(w.Impls, numberer{impl, of})
		}
	}
	flooding := Flooding(ecc.Convention{})
	flooding.Check = func(in *Image, out Numbers, _ ask) (*verify.Diff, error) {
		want, err := ByFlooding(in, ecc.Convention{})
		if err != nil {
			return nil, err
		}
		return sameNumber(in, Numbers{B0: of(want)}, out), nil
	}
	w.Policy = verify.Policy[*Image, Numbers]{Agree: sameNumber, Weak: weakNumber}
	w.Policy.Laws = verify.Bounded(append([]law{flooding}, invariants()...), lawMemory)
	return w
}

// sameNumber returns the difference of two answers to NumberOf, or nil.
func sameNumber(in *Image, want, got Numbers) *verify.Diff {
	d := agree(in, want, got)
	if d != nil {
		d.Where, d.Context = "the number", ""
	}
	return d
}

// weakNumber returns the reason why a right answer would not expose a wrong program, or "". An Euler
// characteristic may be negative.
func weakNumber(_ *Image, out Numbers) string {
	if out.B0 == 0 || out.B0 == 1 {
		return fmt.Sprintf("the number is %d, which a program that ignores its input could answer", out.B0)
	}
	return ""
}

// A numberer computes one number from the answers of an implementation.
type numberer struct {
	bench.Implementation[*Image, Numbers]
	of func(Numbers) int64
}

func (n numberer) Setup(in *Image, c bench.Conditions) (bench.Job[Numbers], error) {
	job, err := n.Implementation.Setup(in, c)
	return number{job, n.of}, err
}

// A number is the job of a numberer.
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
