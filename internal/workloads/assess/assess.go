// Package assess is the workload that compares the topology of a segmentation with its ground
// truth. For each label it reports voxels in common, Betti numbers of both masks and matched
// features.
//
// All numbers are reported for both constructions. In T voxels are top cells: the foreground is
// 26-connected (8-connected in 2D), the background 6-connected (4-connected). In V voxels are
// vertices, and the connectivities are swapped. The outside of the image is background.
//
// A feature of dimension k is matched if its homology classes in both masks meet in the homology of
// their union. The number of matched features is the dimension of im H_k(P) ∩ im H_k(T) in H_k(P ∪
// T). Matched components (k = 0) are the components of the union that both masks meet. In the
// highest dimension, d − 1, the number follows by Alexander duality from the components of the
// background. The unmatched features are the Betti-matching error (Stucki et al. 2023).
package assess

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
)

// Name is the name of the workload.
const Name = "assess"

// The two constructions.
const (
	T = iota
	V
	Constructions
)

// A Topology is the topology of the masks of one set in one construction.
type Topology struct {
	Pred, Truth, Union betti.Numbers
	// Components is the number of matched features of dimension 0. Holes is the number of matched
	// features of dimension d − 1: cavities in 3D, holes in 2D.
	Components, Holes int64
}

// A Comparison compares the masks of one set.
type Comparison struct {
	Pred, Truth, Both int64 // voxels
	In                [Constructions]Topology
}

// Comparisons are the comparisons of all sets of a pair, in the order of the sets.
type Comparisons []Comparison

// Everything is the name of the set of all labels.
const Everything = "all"

// Poisoned returns the value that jobs overwrite their answer with.
func Poisoned() Comparisons { return Comparisons{{Pred: bench.Poison}} }

// A Set is the labels whose voxels are compared as one mask.
type Set struct {
	Name  string
	Codes []uint16 // ascending; see Pair
}

func (s Set) has(code uint16) bool {
	_, is := slices.BinarySearch(s.Codes, code)
	return is
}

// A Pair is two label images of one shape, and the sets to compare. The images hold the codes of
// labels, as uint8 or uint16: 0 is the background, and Labels[c] is the label of code c.
type Pair struct {
	Labels []string // as decimals
	Sets   []Set

	shape  grid.Shape
	fields [2]*grid.Field // the prediction and the truth; nil while they are packed
	packed [2]*packed     // nil for images in memory

	image grid.Source // that was labelled, nil for label images
	keys  []float64   // of the name

	places []Place
}

// Shape is the shape of both images.
func (p *Pair) Shape() grid.Shape { return p.shape }

// Swapped returns the pair with truth and prediction swapped.
func (p *Pair) Swapped() *Pair {
	f := p.Fields()
	return p.with([2]*grid.Field{f[1], f[0]})
}

// with returns a pair of other images with the same codes.
func (p *Pair) with(fields [2]*grid.Field) *Pair {
	return &Pair{shape: fields[0].Shape(), fields: fields, Labels: p.Labels, Sets: p.Sets, places: p.places}
}

// Place returns the place of a set in both images. A part of a pair returns that of the whole.
func (p *Pair) Place(s Set) (all Place) {
	for _, c := range s.Codes {
		all.Join(p.places[c])
	}
	return all
}

// Codes returns the length of a table by code: at least 256, so that no byte is out of its range.
func (p *Pair) Codes() int { return max(256, len(p.Labels)) }

// members marks the codes of a set.
func (p *Pair) members(s Set) []bool {
	in := make([]bool, p.Codes())
	for _, c := range s.Codes {
		in[c] = true
	}
	return in
}

// setsOf returns the indices of the sets of each code.
func (p *Pair) setsOf() [][]int {
	of := make([][]int, p.Codes())
	for i, s := range p.Sets {
		for _, c := range s.Codes {
			of[c] = append(of[c], i)
		}
	}
	return of
}

// Dice is 2·|P∩T| / (|P| + |T|), NaN where both masks are empty.
func (c Comparison) Dice() float64 { return 2 * float64(c.Both) / float64(c.Pred+c.Truth) }

// IoU is |P∩T| / |P∪T|, NaN where both masks are empty.
func (c Comparison) IoU() float64 { return float64(c.Both) / float64(c.Pred+c.Truth-c.Both) }

// VolumeError is (|P| − |T|) / |T|, infinite or NaN where the truth is empty.
func (c Comparison) VolumeError() float64 { return float64(c.Pred-c.Truth) / float64(c.Truth) }

// Add adds the comparison of masks that are separate from these.
func (c *Comparison) Add(o Comparison) {
	c.Pred, c.Truth, c.Both = c.Pred+o.Pred, c.Truth+o.Truth, c.Both+o.Both
	for k, n := range o.In {
		t := &c.In[k]
		t.Pred, t.Truth, t.Union = t.Pred.Plus(n.Pred), t.Truth.Plus(n.Truth), t.Union.Plus(n.Union)
		t.Components, t.Holes = t.Components+n.Components, t.Holes+n.Holes
	}
}

// numbers returns Betti numbers indexed by dimension.
func numbers(n betti.Numbers) [3]int64 { return [3]int64{n.B0, n.B1, n.B2} }

// Error is |b_k(P) − b_k(T)|.
func (t Topology) Error(k int) int64 {
	d := numbers(t.Pred)[k] - numbers(t.Truth)[k]
	return max(d, -d)
}

// Matched returns bounds of the number of matched features of dimension k, in an image of dims
// dimensions. They are equal in dimensions 0 and d − 1, and for equal masks.
func (c Comparison) Matched(construction, k, dims int) (least, most int64) {
	t := c.In[construction]
	switch {
	case k == 0:
		return t.Components, t.Components
	case k == dims-1:
		return t.Holes, t.Holes
	case k >= dims:
		return 0, 0
	}
	most = min(numbers(t.Pred)[k], numbers(t.Truth)[k], numbers(t.Union)[k])
	if c.Both == c.Pred && c.Both == c.Truth {
		return most, most
	}
	return 0, most
}

// MatchingError returns bounds of the number of unmatched features of both masks in dimension k.
func (c Comparison) MatchingError(construction, k, dims int) (least, most int64) {
	t := c.In[construction]
	fewest, greatest := c.Matched(construction, k, dims)
	all := numbers(t.Pred)[k] + numbers(t.Truth)[k]
	return all - 2*greatest, all - 2*fewest
}

// Encode writes the comparisons.
func Encode(list Comparisons) []byte {
	var b bytes.Buffer
	for _, c := range list {
		binary.Write(&b, binary.LittleEndian, c) // writing to a Buffer cannot fail
	}
	return b.Bytes()
}

// Decode is the inverse of Encode.
func Decode(b []byte) (Comparisons, error) {
	size := binary.Size(Comparison{})
	if len(b)%size != 0 {
		return nil, errors.New("malformed comparisons")
	}
	list := make(Comparisons, len(b)/size)
	return list, binary.Read(bytes.NewReader(b), binary.LittleEndian, list)
}

// Workload returns the workload with some implementations. The first is the reference.
func Workload(impls ...bench.Implementation[*Pair, Comparisons]) bench.Workload[*Pair, Comparisons] {
	return bench.Workload[*Pair, Comparisons]{
		Name: Name, Question: question(), Inputs: Inputs(), Impls: impls, Policy: policy(),
		Encode: bench.Small(Encode), Decode: Decode,
		Reference: bench.NameOfFirst(impls),
	}
}

// agree returns the first difference of two answers, or nil.
func agree(in *Pair, want, got Comparisons) *verify.Diff {
	if len(want) != len(got) {
		return &verify.Diff{Where: "sets", Want: fmt.Sprint(len(want)), Got: fmt.Sprint(len(got))}
	}
	for i := range want {
		if want[i] == got[i] {
			continue
		}
		name := ""
		if i < len(in.Sets) {
			name = in.Sets[i].Name
		}
		for k, c := range []string{"T", "V"} {
			if w, g := want[i].In[k], got[i].In[k]; w != g {
				return &verify.Diff{Where: fmt.Sprintf("label %s, construction %s", name, c),
					Want: fmt.Sprintf("%+v", w), Got: fmt.Sprintf("%+v", g)}
			}
		}
		w, g := want[i], got[i]
		return &verify.Diff{Where: fmt.Sprintf("label %s, voxels of the prediction, the truth and both", name),
			Want: fmt.Sprint(w.Pred, w.Truth, w.Both), Got: fmt.Sprint(g.Pred, g.Truth, g.Both)}
	}
	return nil
}
