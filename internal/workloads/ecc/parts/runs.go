package parts

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// mostRuns is the number of runs that are merged together.
const mostRuns = 64

// Runs stores the steps of a part outside memory while it is counted. Each run is a file without a
// name, which disappears when the program ends. Every mostRuns runs are merged into one, and so on.
type Runs struct {
	folder string
	head   Head
	levels int64
	runs   [][]*Part // by the number of merges that made them
}

// NewRuns stores runs in a folder, for a part with the given head on the given number of levels.
func NewRuns(folder string, head Head, levels int64) *Runs {
	head.Unhashed, head.Command = true, ""
	return &Runs{folder: folder, head: head, levels: levels}
}

// Add stores some steps.
func (r *Runs) Add(steps ecc.VCEC) error { return r.add(0, readOnce(steps)) }

func (r *Runs) add(times int, steps iter.Seq2[ecc.VCEC, error]) error {
	p, err := r.write(steps)
	if err != nil {
		return err
	}
	if times == len(r.runs) {
		r.runs = append(r.runs, nil)
	}
	if r.runs[times] = append(r.runs[times], p); len(r.runs[times]) < mostRuns {
		return nil
	}
	some := r.runs[times]
	r.runs[times] = nil
	err = r.add(times+1, (&Set{some, 1}).merged())
	return errors.Join(err, shut(some))
}

// write writes a run.
func (r *Runs) write(steps iter.Seq2[ecc.VCEC, error]) (*Part, error) {
	f, err := os.CreateTemp(r.folder, ".run-*")
	if err != nil {
		return nil, fmt.Errorf("a run of steps: %w", err)
	}
	os.Remove(f.Name()) // if the system refuses, Close removes the name
	p := &Part{Head: r.head, Chunks: steps}
	key, err := fingerprint.ParseKey(p.Key)
	if err == nil { // runs need no fingerprint
		p.Fingerprint = make(fingerprint.Sum, key.ForLevels(r.levels).Functions()).String()
		err = p.Write(f, r.levels)
	}
	var size int64
	if err == nil {
		size, err = f.Seek(0, 1)
	}
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err == nil {
		p, err = read(f, size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("a run of steps: %w", err), shut([]*Part{{file: f}}))
	}
	p.file, p.path = f, "a run of steps"
	return p, nil
}

// Steps yields the steps of all runs, added up, and returns the sum of their weights. The sum is
// known after the last step. The steps can be read repeatedly, until Close.
func (r *Runs) Steps(k fingerprint.Key, threads int) (iter.Seq2[ecc.VCEC, error], *fingerprint.Sum) {
	sum := new(fingerprint.Sum)
	return func(yield func(ecc.VCEC, error) bool) {
		*sum = nil
		(&Set{r.all(), 1}).merged()(func(steps ecc.VCEC, err error) bool {
			var some fingerprint.Sum
			if err == nil {
				some, err = ecc.SumOf(steps, r.levels, k, threads)
			}
			sum.Add(some, 1)
			return yield(steps, err)
		})
	}, sum
}

// Any reports whether there are runs.
func (r *Runs) Any() bool { return len(r.runs) > 0 }

func (r *Runs) all() (list []*Part) {
	for _, some := range r.runs {
		list = append(list, some...)
	}
	return list
}

// Close closes the files, which frees them.
func (r *Runs) Close() error { return shut(r.all()) }

func shut(list []*Part) (err error) {
	for _, p := range list {
		err = errors.Join(err, p.file.Close())
		os.Remove(p.file.Name()) // the name is usually removed already
	}
	return err
}
