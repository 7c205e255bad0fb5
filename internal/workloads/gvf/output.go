package gvf

import "errors"

// TakesSteps is nil, or why who takes steps of whole images does not answer a problem.
func (p *Problem) TakesSteps() error {
	if p.Mask != nil {
		return errors.New("takes no mask; cpu does")
	}
	return p.TakesStepsWithin()
}

// TakesStepsWithin is nil, or why who takes steps of images, and within masks, does not answer.
func (p *Problem) TakesStepsWithin() error {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Tol != 0 {
		return errors.New("takes steps: a steady state is not asked for by steps")
	}
	return nil
}

// An Output is the field of a job, whose next Do overwrites it.
type Output struct{ Flow }

// NewOutput allocates it.
func NewOutput(p *Problem) Output { return Output{p.zeros()} }

// Poison overwrites what Out reads with what no right answer has.
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
