// Package betti defines the question of the Betti numbers of a binary image: the voxels of a grey-
// value image at or below a threshold.
//
// The set is closed, in the T-construction: voxels are cubes, which meet in faces, edges and
// corners. So the foreground is 26-connected and its complement 6-connected, with the outside of
// the image as one component. It has no torsion, so its Betti numbers are the same over every
// field.
package betti

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/counting"
)

// Name is the name of the workload.
const Name = "betti"

// Numbers are the Betti numbers of a set: its components, its tunnels (the holes of a 2D
// image) and its cavities. b0 − b1 + b2 is its Euler characteristic.
type Numbers struct{ B0, B1, B2 int64 }

// String formats the numbers as a tuple.
func (n Numbers) String() string { return fmt.Sprintf("(%d, %d, %d)", n.B0, n.B1, n.B2) }

// Euler returns b0 − b1 + b2, the Euler characteristic.
func (n Numbers) Euler() int64 { return n.B0 - n.B1 + n.B2 }

// Poisoned is the value that jobs overwrite their answer with.
var Poisoned = Numbers{bench.Poison, bench.Poison, bench.Poison}

// NewNumbers returns the Betti numbers of a set from its components, its cavities and its Euler
// characteristic.
func NewNumbers(components, cavities, characteristic int64) Numbers {
	return Numbers{B0: components, B1: components + cavities - characteristic, B2: cavities}
}

// Read converts the sums of kernels (counting.Sums) to Betti numbers.
func Read(_ *Image, counts []int64) Numbers { return NewNumbers(counting.Sums(counts)) }

// An Image is a binary image: the voxels of a grey image at or below a threshold. The threshold
// need not be a level.
type Image struct {
	grid.Source
	Threshold float32
}

// Close closes the grey image.
func (i *Image) Close() error { return grid.Close(i.Source) }

// Workload returns the workload of the Betti numbers for some implementations. The first is the
// reference.
func Workload(impls ...bench.Implementation[*Image, Numbers]) bench.Workload[*Image, Numbers] {
	return bench.Workload[*Image, Numbers]{
		Name: Name, Question: question(), Inputs: Inputs{}, Impls: impls, Policy: policy(),
		Encode: bench.Small(Encode), Decode: Decode,
		Reference: bench.NameOfFirst(impls),
	}
}

// Inputs makes binary images from names of the form betti/at=LEVEL/of=IMAGE.
type Inputs struct{}

// middle is the value of at that selects the middle level of an image.
const middle = -1

// Form returns the form of the names of binary images.
func Form() name.Form {
	return name.Form{Kind: Name, Keys: []name.Key{{
		Key: "at", Doc: "level of the sublevel set (0-based); -1 for the median level of the image",
		Min: middle, Default: middle}}}
}

// imageOptions returns the shared parts of questions about an image, with a shared threshold.
func imageOptions() fields.Common { return fields.Common{Form: Form(), Tail: 4} }

func parse(s string) (level int64, image string, err error) {
	values, image, err := Form().Parse(s)
	return int64(values["at"]), image, err
}

// NameOf returns the name of the sublevel set of an image at a level.
func NameOf(level int64, image string) string {
	return Form().NameOf(map[string]float64{"at": float64(level)}, image)
}

// sublevelSet returns the sublevel set of an image at a level of its ladder, or at the middle level.
func sublevelSet(s grid.Source, level int64) (*Image, error) {
	n := s.Ladder().Len()
	if level == middle {
		level = (n - 1) / 2
	}
	if level < 0 || level >= n {
		return nil, fmt.Errorf("level %d: the image has levels 0 to %d", level, n-1)
	}
	return &Image{s, s.Ladder().Value(level)}, nil
}

// Open opens the binary image with a name.
func (Inputs) Open(name string) (*Image, error) {
	level, image, err := parse(name)
	if err != nil {
		return nil, err
	}
	s, err := fields.Inputs{}.Open(image)
	if err != nil {
		return nil, err
	}
	i, err := sublevelSet(s, level)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("input %q: %w", name, err), grid.Close(s))
	}
	return i, nil
}

// Variants names the sublevel sets of other images at the same level.
func (Inputs) Variants(name string, n int) ([]string, error) {
	return imageOptions().Variants(name, n)
}

// Reseed names the sublevel set of the image of another seed.
func (Inputs) Reseed(name string, seed uint64) string { return imageOptions().Reseed(name, seed) }

// Files returns the files of the image.
func (Inputs) Files(name string) []string { return imageOptions().Files(name) }

// Smaller names the sublevel sets of smaller images that have the same level.
func (in Inputs) Smaller(name string) []string {
	level, image, err := parse(name)
	if err != nil {
		return nil
	}
	var names []string
	for _, smaller := range (fields.Inputs{}).Smaller(image) {
		s, err := in.Open(NameOf(level, smaller))
		if err != nil {
			continue
		}
		s.Close()
		names = append(names, NameOf(level, smaller))
	}
	return names
}

// Cost returns the cost of one read of the image.
func (Inputs) Cost(name string, i *Image) bench.Cost {
	level, image, _ := parse(name) // Open has parsed the name
	cost := fields.Inputs{}.Cost(image, i.Source)
	if cost.Class += "/at=middle"; level != middle {
		cost.Class = fmt.Sprintf("%s%d", cost.Class[:len(cost.Class)-len("middle")], level)
	}
	return cost
}

// Size returns the size of the image with the threshold appended.
func (Inputs) Size(i *Image) int64 { return imageOptions().Size(i.Source) }

// Share writes the image and the threshold.
func (Inputs) Share(i *Image, f *os.File) error {
	return imageOptions().Share(i.Source, binary.LittleEndian.AppendUint32(nil, math.Float32bits(i.Threshold)), f)
}

// Attach makes the binary image from bytes that Share wrote.
func (Inputs) Attach(mapped []byte) (*Image, error) {
	s, tail, err := imageOptions().Attach(mapped)
	if err != nil {
		return nil, err
	}
	return &Image{s, math.Float32frombits(binary.LittleEndian.Uint32(tail))}, nil
}

// Encode writes the numbers.
func Encode(n Numbers) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(n.B0))
	b = binary.LittleEndian.AppendUint64(b, uint64(n.B1))
	return binary.LittleEndian.AppendUint64(b, uint64(n.B2))
}

// Decode is the inverse of Encode.
func Decode(b []byte) (Numbers, error) {
	if len(b) != 24 {
		return Numbers{}, errors.New("malformed Betti numbers")
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	return Numbers{at(0), at(1), at(2)}, nil
}

// agree returns the first number that differs between two answers.
func agree(_ *Image, want, got Numbers) *verify.Diff {
	for _, b := range []struct {
		name      string
		want, got int64
	}{{"b0", want.B0, got.B0}, {"b1", want.B1, got.B1}, {"b2", want.B2, got.B2}} {
		if b.want != b.got {
			return &verify.Diff{Where: b.name, Want: fmt.Sprint(b.want), Got: fmt.Sprint(b.got),
				Context: fmt.Sprintf("all of them: want %v, got %v", want, got)}
		}
	}
	return nil
}

// Threshold returns the threshold whose set contains the values at or below a value, or for
// superlevel sets at or above it. The threshold is the nearest float32 in the set; for an image of
// labels it is the rank of the nearest label.
func Threshold(s grid.Source, value grid.Number, superlevel bool) float32 {
	labels := grid.LabelsOf(s)
	if labels != nil {
		rank := sort.Search(labels.Len(), func(rank int) bool {
			c := labels.Compare(grid.Ranked(rank), value)
			return c > 0 || superlevel && c == 0
		})
		switch {
		case superlevel && rank == labels.Len():
			return float32(math.Inf(1))
		case superlevel:
			return grid.Ranked(rank)
		case rank == 0:
			return float32(math.Inf(-1))
		}
		return grid.Ranked(rank - 1)
	}
	t := value.Float32()
	switch c := labels.Compare(t, value); {
	case !superlevel && c > 0:
		t = math.Nextafter32(t, float32(math.Inf(-1)))
	case superlevel && c < 0:
		t = math.Nextafter32(t, float32(math.Inf(1)))
	}
	return t
}
