package format

import (
	"fmt"
	"slices"
	"strings"

	"eccbench/internal/grid"
)

// An Axis is an axis of a file, with its name there.
type Axis struct {
	Name   string
	Kind   AxisKind
	Length int64
}

// An AxisKind is the meaning of an axis.
type AxisKind int

// The meanings of axes.
const (
	UnknownAxis AxisKind = iota
	SpaceAxis
	ChannelAxis
	OtherAxis // such as time
)

// AxisKindOf returns the meaning of a name. NRRD names space and domain.
func AxisKindOf(name string) AxisKind {
	switch strings.ToLower(name) {
	case "x", "y", "z", "space", "domain":
		return SpaceAxis
	case "c", "channel":
		return ChannelAxis
	case "t", "time":
		return OtherAxis
	}
	return UnknownAxis
}

// SplitAxes splits a file's axes, slowest first, at those of space. The axes before them count
// volumes, and the axes after them count the values of a voxel. At most three are of space. An axis
// of unknown meaning is of space only if no axis is known to be, and there are two of them. If no
// axis has a known meaning, all results are empty.
func SplitAxes(axes []Axis) (outer, space, inner []Axis, err error) {
	number := func(kind AxisKind) (n int) {
		for _, a := range axes {
			if a.Kind == kind {
				n++
			}
		}
		return n
	}
	kind, unknown := SpaceAxis, number(UnknownAxis)
	switch {
	case unknown == len(axes):
		return nil, nil, nil, nil
	case number(SpaceAxis) > 0:
	case unknown == 2:
		kind = UnknownAxis
	default:
		return nil, nil, nil, fmt.Errorf("it is not known which of its axes %s are of space; name them x, y and z (kinds of "+
			"NRRD: space)", AxisNames(axes))
	}
	for i, a := range axes {
		switch {
		case a.Kind == kind:
			space = append(space, a)
			for _, b := range inner {
				if b.Length > 1 {
					return nil, nil, nil, fmt.Errorf("axes %s have an axis of %q among those of space; save it as the first or "+
						"the last axis", AxisNames(axes), b.Name)
				}
			}
			inner = nil
		case space == nil:
			outer = axes[:i+1]
		default:
			inner = append(inner, a)
		}
	}
	more := max(0, len(space)-3)
	return slices.Concat(outer, space[:more]), space[more:], inner, nil
}

// AxisNames lists the names of axes for messages.
func AxisNames(axes []Axis) string {
	var names []string
	for _, a := range axes {
		names = append(names, fmt.Sprintf("%.40q", a.Name))
	}
	return strings.Join(names, ", ")
}

// Lengths returns the lengths of axes.
func Lengths(axes []Axis) []int64 {
	var lengths []int64
	for _, a := range axes {
		lengths = append(lengths, a.Length)
	}
	return lengths
}

// SpaceOrder returns the order of two or three axes of space by their names x, y and z, for
// Permute. It is nil if they are z, y, x, or have other names.
func SpaceOrder(space []Axis) ([]int64, error) {
	var order []int64 // fastest first
	for _, a := range slices.Backward(space) {
		if name := strings.ToLower(a.Name); name == "x" || name == "y" || name == "z" {
			order = append(order, int64(name[0]-'x'))
		}
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(order)))
	if slices.Equal(order, sorted) {
		return nil, nil
	}
	if len(order) != len(space) || len(sorted) != len(order) {
		return nil, fmt.Errorf("axes of space %s; want z, y, x, each once", AxisNames(space))
	}
	for i, axis := range order {
		order[i] = int64(slices.Index(sorted, axis)) + 1
	}
	for axis := int64(len(order)) + 1; axis <= 3; axis++ {
		order = append(order, axis)
	}
	return order, nil
}

// Permute reads the voxels of the selected volume and reorders them to x, y, z. order has the axis
// of each axis in the file, fastest first: 1 is x, 2 is y, and 3 is z.
func (b *Body) Permute(order []int64) error {
	if b.In.Stream {
		return NotStreamed{"its axes are in another order than x, y, z"}
	}
	b.turned = true
	if err := b.CheckMemory(b.In); err != nil {
		return err
	}
	data, err := b.Read()
	if err != nil {
		return err
	}
	lengths := []int64{b.Shape.W, b.Shape.H, b.Shape.D} // as in the file, fastest first
	var xyz [3]int64
	for k, axis := range order {
		xyz[axis-1] = lengths[k]
	}
	strides := [3]int64{1, xyz[0], xyz[0] * xyz[1]}
	var step [3]int64
	for k, axis := range order {
		step[k] = strides[axis-1] * b.Stored.Size()
	}
	b.Decoded = grid.NewBuffer(int64(len(data)))
	b.Shape = grid.Shape{D: xyz[2], H: xyz[1], W: xyz[0]}
	b.Volumes = Volumes{Count: 1, Stride: 1}
	size, from := b.Stored.Size(), int64(0)
	for s := range lengths[2] {
		for r := range lengths[1] {
			to := s*step[2] + r*step[1]
			for range lengths[0] {
				copy(b.Decoded[to:to+size], data[from:from+size])
				to, from = to+step[0], from+size
			}
		}
	}
	if b.Big {
		SwapBytes(b.Decoded, size)
		b.Big = false
	}
	return nil
}
