package duality

// A Fault is a known defect. Tests plant it to show that the harness detects it.
type Fault string

// The faults are typical mistakes in implementations of this kind.
const (
	LostUnion   Fault = "lost union"                  // a saddle ignores the third of three components
	Faces       Fault = "6 for 26 neighbours"         // for the set
	OneAbove    Fault = "one level above"             // b0 changes one level too late
	LostSide    Fault = "side of the box lost"        // the last plane does not touch the outside
	LostLayer   Fault = "shared layer lost"           // rows that two boxes share are not joined
	EndedEarly  Fault = "component ended early"       // a component that reaches a shared layer ends within the box
	Circle      Fault = "descent in a circle"         // a saddle's descent leads back to the saddle
	SameAsAbove Fault = "neighbours of a level alike" // all neighbours of the same level precede a voxel
)

// Faults lists every fault except Circle, which gives no answer.
func Faults() []Fault {
	return []Fault{LostUnion, Faces, OneAbove, LostSide, LostLayer, EndedEarly, SameAsAbove}
}

// Faulty returns an implementation with a fault and with boxes of about the given size.
func Faulty(i Implementation, f Fault, box int64) Implementation {
	i.fault, i.box = f, box
	return i
}

// turnBack makes the voxel to which the first saddle descends point back to the saddle.
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
