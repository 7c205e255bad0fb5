package duality

// A Fault is a known defect that can be planted in the implementation, so that
// tests of the harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults. Each is a slip that an implementation of this kind has seen.
const (
	LostUnion   Fault = "lost union"                  // of a saddle where three components meet, the third is forgotten
	Faces       Fault = "6 for 26 neighbours"         // of the set
	OneAbove    Fault = "one level above"             // b0 changes at the level after its own
	LostSide    Fault = "side of the box lost"        // the last plane does not touch the outside
	LostLayer   Fault = "shared layer lost"           // rows that two boxes share are not joined
	EndedEarly  Fault = "component ended early"       // one that has come to a shared layer ends for good
	Circle      Fault = "descent in a circle"         // a voxel that a saddle descends to descends to the saddle
	SameAsAbove Fault = "neighbours of a level alike" // of a level, all of a voxel's neighbours precede it
)

// Faults lists every fault but Circle, of which there is no answer.
func Faults() []Fault {
	return []Fault{LostUnion, Faces, OneAbove, LostSide, LostLayer, EndedEarly, SameAsAbove}
}

// Faulty is an implementation with a fault planted, that cuts an image into boxes of about so
// many voxels.
func Faulty(i Implementation, f Fault, box int64) Implementation {
	i.fault, i.box = f, box
	return i
}

// turnBack lets the voxel that the first saddle descends to descend to the saddle.
func (g *graph[K]) turnBack() {
	for _, s := range g.saddles {
		from := s >> placeBits
		by := g.offsets[g.towards[from]]
		for k, offset := range g.offsets {
			if by != 0 && offset == -by {
				g.towards[from+by] = uint8(k)
				return
			}
		}
	}
}
