package runs

// A Fault is a planted mistake. Tests check that the witnesses detect it.
type Fault string

// The planted faults.
const (
	SharedUnion    Fault = "every component of the union is matched"
	OutsideMatched Fault = "the outside is a matched cavity"
)

// Faulty returns the implementation with a planted fault.
func Faulty(f Fault) Implementation { return Implementation{f} }

// Faults lists the planted faults.
func Faults() []Fault { return []Fault{SharedUnion, OutsideMatched} }
