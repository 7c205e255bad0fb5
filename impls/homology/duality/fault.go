package duality

// A Fault is a known defect that can be planted in the implementation, so that tests of the
// harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults. Each is a slip that an implementation of this kind has seen.
const (
	AnyBoundary   Fault = "boundary not looked at"        // taken where it is no manifold, too
	NoOutside     Fault = "b2 without the outside"        // each surface counts as a cavity
	LostPart      Fault = "last core's faces left out"    // of those that are told from each other
	CountedTwice  Fault = "union counted twice"           // of the vertices of the first tetrahedron
	UnusedCounted Fault = "unused vertices as components" // which no simplex has
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{AnyBoundary, NoOutside, LostPart, CountedTwice, UnusedCounted} }

// Faulty is the implementation with a fault planted.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }
