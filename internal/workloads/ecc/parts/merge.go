package parts

import (
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// Totals are the sums over a merged curve that are checked: of its changes, and of their weights.
type Totals struct {
	Change int64
	Sum    fingerprint.Sum
	Steps  int64 // number of steps
}

// Merging is the workload that merges a set of parts and computes the totals. The sum of the parts'
// fingerprints verifies them. See receives the steps of the curve.
func Merging(s *Set, see func(ecc.VCEC)) bench.Workload[*Set, Totals] {
	return bench.Workload[*Set, Totals]{
		Impls: []bench.Implementation[*Set, Totals]{merging{see}},
		Policy: verify.Policy[*Set, Totals]{Laws: []verify.Law[*Set, Totals]{
			{
				Name: "sum of all changes",
				Check: func(s *Set, out Totals, _ verify.Ask[*Set, Totals]) (*verify.Diff, error) {
					if s.Convention().Masked { // the total χ of a masked image is unknown
						return nil, verify.ErrNotApplicable
					}
					return ecc.UnlikeTotal(s.Convention(), out.Change), nil
				},
			},
			{
				Name: ecc.FingerprintLaw, Note: "key " + s.Key().String(), Drawn: true, Independent: true,
				Check: func(s *Set, out Totals, _ verify.Ask[*Set, Totals]) (*verify.Diff, error) {
					return ecc.UnlikeSums(s.Sum(), out.Sum, s.Key()), nil
				},
			},
		}},
	}
}

// MergeName is the name of the only implementation of Merging.
const MergeName = "merge"

type merging struct{ see func(ecc.VCEC) }

func (merging) About() bench.About {
	return bench.About{Name: MergeName, Where: "cpu", Method: "sums of sorted parts", Source: "doc/guide/cluster.md"}
}

func (merging) CanDo(*Set, bench.Conditions) error { return nil }

func (m merging) Setup(s *Set, _ bench.Conditions) (bench.Job[Totals], error) {
	return &mergeJob{set: s, see: m.see}, nil
}

type mergeJob struct {
	set *Set
	see func(ecc.VCEC)
	bench.Output[Totals]
}

func (j *mergeJob) Do(*bench.Trace) error {
	j.Last = Totals{Sum: make(fingerprint.Sum, j.set.Key().Functions())}
	for steps, err := range j.set.Steps() {
		if err != nil {
			return err
		}
		some, err := ecc.SumOf(steps, j.set.Ladder().Len(), j.set.Key(), j.set.threads)
		if err != nil {
			return err
		}
		j.Last.Sum.Add(some, 1)
		j.Last.Steps += int64(len(steps))
		for _, s := range steps {
			j.Last.Change += s.Change
		}
		j.see(slices.Clip(steps))
	}
	return nil
}

func (j *mergeJob) Poison() { j.Last = Totals{Change: bench.Poison} }
