package each

import (
	"errors"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/softbatch"
	"eccbench/internal/workloads/softecc"
)

var errAsked = errors.New("asked")

// A limited implementation records its conditions.
type limited struct {
	bench.Implementation[*softecc.Problem, softecc.Answer]
	given *bench.Conditions
}

func (l limited) CanDo(_ *softecc.Problem, c bench.Conditions) error {
	*l.given = c
	return errAsked
}

// Each image may take its share of the time and of the memory.
func TestShares(t *testing.T) {
	const name = "softecc-batch/count=20/m=5/lambda=20/alpha=0/dir=1/of=noise/shape=9x8/type=float32/seed=1"
	b, err := softbatch.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	var got bench.Conditions
	each := Implementation{Of: limited{given: &got}}
	for given, want := range map[bench.Conditions]bench.Conditions{
		{Time: time.Minute, Memory: 1 << 12}: {Time: 3 * time.Second, Memory: 204},
		{Time: 0, Memory: 0}:                 {},
		{Time: 19, Memory: 19}:               {Time: 1, Memory: 1},
	} {
		if err := each.CanDo(b, given); !errors.Is(err, errAsked) || got.Time != want.Time || got.Memory != want.Memory {
			t.Errorf("%+v: asked with %+v, %v", given, got, err)
		}
	}
}
