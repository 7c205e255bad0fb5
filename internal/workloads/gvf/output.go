package gvf

import (
	"errors"
	"fmt"
	"slices"
)

// TakesSteps reports why an implementation without masks cannot answer a problem, or nil. It steps
// whole images in float32 or one of the given formats.
func (p *Problem) TakesSteps(formats ...Storage) error {
	if p.Mask != nil {
		return errors.New("no mask is supported; use cpu")
	}
	return p.TakesStepsWithin(formats...)
}

// TakesStepsWithin is TakesSteps for implementations that accept masks.
func (p *Problem) TakesStepsWithin(formats ...Storage) error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Storage != Float32 && !slices.Contains(formats, p.Storage) {
		return fmt.Errorf("does not keep fields in %v", p.Storage)
	}
	if p.Tol != 0 {
		return errors.New("computes steps only; use an implementation of gvf-steady")
	}
	return nil
}

// ComesToRest reports why an implementation of the float32 steady state cannot answer a problem, or
// nil.
func (p *Problem) ComesToRest(...Storage) error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Tol == 0 {
		return errors.New("answers the steady state, not steps")
	}
	return nil
}

// An Output is the field of a job, whose next Do overwrites it.
type Output struct{ Flow }

// NewOutput allocates it.
func NewOutput(p *Problem) Output { return Output{p.zeros()} }

// Poison overwrites the field with a value that no right answer has.
func (o Output) Poison() {
	for _, list := range o.V {
		for i := range list {
			list[i] = 1e30
		}
	}
}

// Out is the field.
func (o Output) Out() (Flow, error) { return o.Flow, nil }

// Close frees nothing: all is garbage collected.
func (o Output) Close() error { return nil }
