package parts

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// mostRuns are how many runs are merged at a time.
const mostRuns = 64

// Runs keep the steps of a part outside memory while it is counted: each as a file without a
// name, which is gone when the program ends, however that is. So many of them are made one, and
// so many of those.
type Runs struct {
	folder string
	head   Head
	levels int64
	runs   [][]*Part // by how often they were made one
}

// NewRuns keeps runs of a part in a folder; the part has so many levels.
func NewRuns(folder string, head Head, levels int64) *Runs {
	head.Unhashed, head.Command = true, ""
	return &Runs{folder: folder, head: head, levels: levels}
}

// Add keeps some steps.
func (r *Runs) Add(steps ecc.VCEC) error { return r.add(0, once(steps)) }

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
	os.Remove(f.Name()) // where a file cannot be without a name Close removes it
	p := &Part{Head: r.head, Chunks: steps}
	key, err := fingerprint.ParseKey(p.Key)
	if err == nil { // of a run nobody asks for its fingerprint
		p.Fingerprint = make(fingerprint.Sum, key.For(r.levels).Functions()).String()
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

// Steps are those of all runs, added up, and the sum of their weights, which is known when all
// were asked for. They may be asked for more than once, until Close.
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

// Any is whether there are runs.
func (r *Runs) Any() bool { return len(r.runs) > 0 }

func (r *Runs) all() (list []*Part) {
	for _, some := range r.runs {
		list = append(list, some...)
	}
	return list
}

// Close gives the files back.
func (r *Runs) Close() error { return shut(r.all()) }

func shut(list []*Part) (err error) {
	for _, p := range list {
		err = errors.Join(err, p.file.Close())
		os.Remove(p.file.Name()) // it mostly has none any more
	}
	return err
}
