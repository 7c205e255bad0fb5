package cli

import (
	"testing"

	"github.com/spf13/pflag"

	"eccbench/internal/bench"
	"eccbench/internal/name"
	"eccbench/internal/runner"
)

// A named bench has a name alone.
type named struct {
	runner.Bench
	name string
}

func (n named) Name() string { return n.name }

func (n named) Question() bench.Question {
	form := name.Form{Kind: n.name}
	if n.name == "soft"+ofBatches {
		form.Keys = []name.Key{{Key: "count", Min: 1, Max: 8, Default: 5}}
	}
	return bench.Question{Form: form}
}

// A workload with --count is the one for batches, if there is one.
func TestBatches(t *testing.T) {
	for _, c := range []struct{ workload, count, want string }{
		{"soft", "", "soft"}, {"soft", "3", "soft-batch"}, {"soft", "5", "soft-batch"},
		{"soft-batch", "", "soft-batch"}, {"soft-batch", "3", "soft-batch"}, {"hard", "3", "hard"}, {"so", "3", ""},
	} {
		i, f := Inputs{}, pflag.NewFlagSet("", pflag.ContinueOnError)
		i.Add(f, []runner.Bench{named{name: "soft"}, named{name: "hard"}, named{name: "soft-batch"}})
		args := []string{"--workload", c.workload}
		if c.count != "" {
			args = append(args, "--count", c.count)
		}
		if err := f.Parse(args); err != nil {
			t.Fatal(err)
		}
		b, err := i.Bench()
		if got := ""; c.want == "" {
			if err == nil {
				t.Errorf("%v: no error", c)
			}
		} else if err == nil {
			if got = b.Name(); got != c.want {
				t.Errorf("%v: is %s", c, got)
			}
		} else {
			t.Errorf("%v: %v", c, err)
		}
	}
}
