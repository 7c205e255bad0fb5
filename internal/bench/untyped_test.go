package bench

import (
	"testing"
)

// A total is the sum of its numbers.
type total struct{}

type numbers []int

type totalJob struct {
	Output[int]
	in numbers
}

func (total) About() About                                     { return About{Name: "total"} }
func (total) CanDo(numbers, Conditions) error                  { return nil }
func (total) Setup(in numbers, _ Conditions) (Job[int], error) { return &totalJob{in: in}, nil }

func (j *totalJob) Launches() int64 { return 7 }
func (j *totalJob) Do(*Trace) error {
	j.Last = 0
	for _, n := range j.in {
		j.Last += n
	}
	return nil
}

// Jobs of an untyped workload answer and keep their optional interfaces.
func TestUntyped(t *testing.T) {
	i := Untyped(Workload[numbers, int]{Impls: []Implementation[numbers, int]{total{}}}).Impls[0]
	if got, err := Answer(i, any(numbers{3, 4}), Conditions{}); err != nil || got != 7 {
		t.Errorf("%v, %v; want 7", got, err)
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
