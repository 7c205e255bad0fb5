package duality

// A Fault is a known defect. Tests plant it to show that the harness detects it.
type Fault string

// The faults are typical mistakes in implementations of this kind.
const (
	AnyBoundary   Fault = "boundary not looked at"        // a boundary that is no manifold is accepted
	NoOutside     Fault = "b2 without the outside"        // each surface counts as a cavity
	LostPart      Fault = "last core's faces left out"    // in the search for boundary triangles
	CountedTwice  Fault = "union counted twice"           // of the vertices of the first tetrahedron
	UnusedCounted Fault = "unused vertices as components" // vertices in no simplex
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{AnyBoundary, NoOutside, LostPart, CountedTwice, UnusedCounted} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }
