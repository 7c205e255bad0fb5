package binned

// A Fault is a mistake that is planted to see that it is caught.
type Fault string

// The faults.
const (
	WrongSign   Fault = "wrong sign of ∂X"
	ImageOrder  Fault = "changes of X in place of those of Y"
	Unprojected Fault = "the factor of u = V/|V| left out"
	DroppedTail Fault = "the tail of σ cut off"
	NextBin     Fault = "values one bin too high"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{WrongSign, ImageOrder, Unprojected, DroppedTail, NextBin} }

// Faulty is the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{f} }

// planted makes what is wrong of what a job is set up with.
func (j *job) planted() {
	switch j.fault {
	case ImageOrder:
		flat := *j.p
		flat.Alpha = 0
		j.before = flat.Tilt()
	case DroppedTail:
		j.reach = 8
	}
}
