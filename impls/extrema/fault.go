package extrema

// A Fault is a known defect. Tests plant it to show that the harness detects it.
type Fault string

// The faults.
const (
	WrongOwner Fault = "wrong owner of a minimum" // a minimum of two planes always belongs to the later one
	LostHalo   Fault = "lost halo contribution"   // a chunk ignores the slice before it
	WrongSign  Fault = "wrong sign of one family" // changes that are passed from plane to plane get the wrong sign
	LastRow    Fault = "last row left out"        // of each plane
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{WrongOwner, LostHalo, WrongSign, LastRow} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }
