package cpu

// A Fault is a known defect that can be planted in the implementation, so that
// tests of the harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults. Each is a slip that an implementation of this kind has seen.
const (
	HaloOffByOne Fault = "halo off by one" // a chunk sees its first slice again in place of the one before
	TieRule      Fault = "tie rule"        // a tie with an earlier voxel counts as won
	DroppedLevel Fault = "dropped level"   // the last level is left out of the sum
	LostPartial  Fault = "lost partial"    // one core's table is left out of the sum
	SwappedAxes  Fault = "swapped axes"    // height and width of a 3D image change places
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{HaloOffByOne, TieRule, DroppedLevel, LostPartial, SwappedAxes} }

// Faulty is the implementation with a fault planted.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }
