package duality

// A Fault is a known defect that can be planted in the implementation, so that
// tests of the harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults. Each is a slip that an implementation of this kind has seen.
const (
	OpenEdges     Fault = "outside not joined at edges" // background at an edge of the box is not joined with the outside
	Eighteen      Fault = "18 for 26 neighbours"        // voxels that share a corner alone are not joined
	OutsideCounts Fault = "b2 without −1"               // the outside is counted as a cavity
	LostSeam      Fault = "lost seam"                   // what the cores' parts of the foreground share is not joined
	CountedTwice  Fault = "union counted twice"         // of those at the seams of the background
	LastRow       Fault = "last row left out"           // of each plane
	LostTrunk     Fault = "trunk not joined"            // with what was left of its component
	LostWindow    Fault = "lost window"                 // what is left of a window's first plane is not joined with the plane before
)

// Faults lists every fault.
func Faults() []Fault {
	return []Fault{OpenEdges, Eighteen, OutsideCounts, LostSeam, CountedTwice, LastRow, LostTrunk, LostWindow}
}

// Faulty is the implementation with a fault planted, in windows of few planes.
func Faulty(f Fault) Implementation { return Implementation{fault: f, planes: 3} }
