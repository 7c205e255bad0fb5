package cpu

// A Fault is a known defect. Tests plant it to show that the harness detects it.
type Fault string

// The faults are typical mistakes in implementations of this kind.
const (
	HaloOffByOne Fault = "halo off by one" // a chunk reads its first slice instead of the slice before it
	TieRule      Fault = "tie rule"        // a tie with an earlier voxel counts as won
	DroppedLevel Fault = "dropped level"   // the last level is not summed
	LostPartial  Fault = "lost partial"    // one core's table is not summed
	SwappedAxes  Fault = "swapped axes"    // height and width of a 3D image are exchanged
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{HaloOffByOne, TieRule, DroppedLevel, LostPartial, SwappedAxes} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }
