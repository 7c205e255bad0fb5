package duality

// A Fault is a known defect. Tests plant it to show that the harness detects it.
type Fault string

// The faults are typical mistakes in implementations of this kind.
const (
	OpenEdges     Fault = "outside not joined at edges" // background at an edge of the box is not joined with the outside
	Eighteen      Fault = "18 for 26 neighbours"        // voxels that share only a corner are not joined
	OutsideCounts Fault = "b2 without −1"               // the outside is counted as a cavity
	LostSeam      Fault = "lost seam"                   // the cores' parts of the foreground are not joined
	CountedTwice  Fault = "union counted twice"         // unions at the seams of the background
	LastRow       Fault = "last row left out"           // of each plane
	LostTrunk     Fault = "trunk not joined"            // with the rest of its component
	LostWindow    Fault = "lost window"                 // the first plane of a window is not joined with the plane before
)

// Faults lists every fault.
func Faults() []Fault {
	return []Fault{OpenEdges, Eighteen, OutsideCounts, LostSeam, CountedTwice, LastRow, LostTrunk, LostWindow}
}

// Faulty returns the implementation with a fault, and with windows of few planes.
func Faulty(f Fault) Implementation { return Implementation{fault: f, planes: 3} }
