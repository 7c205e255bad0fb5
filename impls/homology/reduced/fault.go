package reduced

// A Fault is a known defect that can be planted in the implementation, so that tests of the
// harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults. Each is a slip that an implementation of this kind has seen.
const (
	SignsForgotten Fault = "signs forgotten"            // all incidences are 1, which is right over Z/2 alone
	UnitsOnly      Fault = "pivots that are units only" // what they leave over counts as 0
	NotDividing    Fault = "no invariant factors"       // orders as the elimination leaves them
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{SignsForgotten, UnitsOnly, NotDividing} }

// Faulty is the implementation with a fault planted.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }
