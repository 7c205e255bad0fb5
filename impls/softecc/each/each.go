// Package each answers the soft curves of a batch image by image, with an implementation for one.
package each

import (
	"errors"
	"fmt"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/softecc"
)

// Implementation answers each image by another implementation, on the host.
type Implementation struct {
	Of bench.Implementation[*softecc.Problem, softecc.Answer]
}

// About describes the method.
func (i Implementation) About() bench.About {
	a := i.Of.About()
	a.Method += "; image by image"
	return a
}

// CanDo rejects a batch if one of its images is rejected, or if all of them would take too long.
func (i Implementation) CanDo(b *softecc.Batch, c bench.Conditions) error {
	if c.Time > 0 {
		c.Time = max(1, c.Time/time.Duration(b.Len()))
	}
	if c.Memory > 0 {
		c.Memory = max(1, c.Memory/b.Len())
	}
	if err := i.Of.CanDo(b.Problem, c); err != nil {
		return fmt.Errorf("one of %d images: %w", b.Len(), err)
	}
	return nil
}

// Setup binds the implementation to each image.
func (i Implementation) Setup(b *softecc.Batch, c bench.Conditions) (bench.Job[[]softecc.Answer], error) {
	j := &job{}
	for k := range b.Len() {
		p, err := b.At(k)
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		one, err := i.Of.Setup(p, c)
		if err != nil {
			return nil, errors.Join(err, j.Close())
		}
		j.images = append(j.images, one)
	}
	return j, nil
}

type job struct{ images []bench.Job[softecc.Answer] }

func (j *job) Do(trace *bench.Trace) error {
	for _, one := range j.images {
		if err := one.Do(trace); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) Poison() {
	for _, one := range j.images {
		one.Poison()
	}
}

// Out returns the answers of the last Do.
func (j *job) Out() (list []softecc.Answer, err error) {
	for _, one := range j.images {
		a, err := one.Out()
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

func (j *job) Close() error {
	var errs []error
	for _, one := range j.images {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}
