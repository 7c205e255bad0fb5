package extrema

// A Fault is a known defect that can be planted in the implementation, so that
// tests of the harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults.
const (
	WrongOwner Fault = "wrong owner of a minimum" // a minimum of two planes belongs to the later one, always
	LostHalo   Fault = "lost halo contribution"   // a chunk does not see the slice before it
	WrongSign  Fault = "wrong sign of one family" // what is handed from plane to plane changes its sign
	LastRow    Fault = "last row left out"        // of each plane
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{WrongOwner, LostHalo, WrongSign, LastRow} }

// Faulty is the implementation with a fault planted.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }
