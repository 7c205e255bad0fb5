package reductions

// A Fault is a known defect. Tests plant it to show that the harness detects it.
type Fault string

// The faults are typical mistakes in implementations of this kind.
const (
	FaceKept        Fault = "face not deleted with its cell"
	OldCoboundaries Fault = "coboundaries not changed" // when the boundaries change
	Unchecked       Fault = "reductions without a won race"
	SharedInside    Fault = "shared simplices inside" // several parts reduce the same simplex
)

// Faults lists the faults of reductions on one core.
func Faults() []Fault { return []Fault{FaceKept, OldCoboundaries} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }

// FaultyPartitions returns the implementation in parts with a fault.
func FaultyPartitions(f Fault) Partitions { return Partitions{fault: f} }

// RaceFaults lists the faults of reductions in rounds.
func RaceFaults() []Fault { return []Fault{FaceKept, OldCoboundaries, Unchecked} }

// FaultyRace returns the implementation in rounds with a fault.
func FaultyRace(f Fault) Race { return Race{fault: f} }
