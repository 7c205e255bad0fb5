package reductions

// A Fault is a known defect that can be planted in the implementation, so that tests of the
// harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults. Each is a slip that an implementation of this kind has seen.
const (
	FaceKept        Fault = "face not deleted with its cell"
	OldCoboundaries Fault = "coboundaries not changed" // after the boundaries were
	Unchecked       Fault = "reductions without a won race"
	SharedInside    Fault = "shared simplices inside" // of several parts, which reduce them each
)

// Faults lists every fault of reductions on one core.
func Faults() []Fault { return []Fault{FaceKept, OldCoboundaries} }

// Faulty is the implementation with a fault planted.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }

// FaultyPartitions is that in parts with a fault planted.
func FaultyPartitions(f Fault) Partitions { return Partitions{fault: f} }

// RaceFaults lists every fault of reductions in rounds.
func RaceFaults() []Fault { return []Fault{FaceKept, OldCoboundaries, Unchecked} }

// FaultyRace is that in rounds with a fault planted.
func FaultyRace(f Fault) Race { return Race{fault: f} }
