package bench

import (
	"errors"
	"testing"
)

// A total is the sum of its numbers; its jobs add up and take other numbers.
type total struct{}

type numbers []int

type totalJob struct {
	Output[int]
	in numbers
}

func (total) About() About                                     { return About{Name: "total"} }
func (total) CanDo(numbers, Conditions) error                  { return nil }
func (total) Setup(in numbers, _ Conditions) (Job[int], error) { return &totalJob{in: in}, nil }

func (j *totalJob) Begin()          { j.Last = 0 }
func (j *totalJob) Launches() int64 { return 7 }
func (j *totalJob) Do(*Trace) error { j.Begin(); return j.Add(j.in, 1) }
func (j *totalJob) Add(in numbers, times int64) error {
	for _, n := range in {
		j.Last += n * int(times)
	}
	return nil
}

// pieces are numbers in two pieces, the second of them counted three times.
type pieces struct{}

func (pieces) EachPiece(f func(piece any, times int64) error) error {
	return errors.Join(f(numbers{1, 2}, 1), f(numbers{5}, 3))
}

// Jobs of an untyped workload answer, add up, and keep their optional interfaces.
func TestUntyped(t *testing.T) {
	i := Untyped(Workload[numbers, int]{Impls: []Implementation[numbers, int]{total{}}}).Impls[0]
	if got, err := Answer(i, any(numbers{3, 4}), Conditions{}); err != nil || got != 7 {
		t.Errorf("%v, %v; want 7", got, err)
	}
	if got, err := Answer(i, any(pieces{}), Conditions{}); err != nil || got != 18 {
		t.Errorf("in pieces %v, %v; want 18", got, err)
	}
	job, err := i.Setup(numbers{}, Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	if l, ok := As[Launcher](job); !ok || l.Launches() != 7 {
		t.Error("the launches of an untyped job are lost")
	}
	if _, ok := As[DeviceJob](job); ok {
		t.Error("a job on no device is found to have one")
	}
}
