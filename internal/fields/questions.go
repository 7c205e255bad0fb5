package fields

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// A Problem is an image with the numbers that its name holds, in the order of the form.
type Problem interface {
	Image() grid.Source
	Keys() []float64
}

// Questions makes problems from names KIND/key=N/…/of=IMAGE. It implements the inputs of a workload
// whose questions are an image and some numbers; only these are shared.
type Questions[P Problem] struct {
	Form name.Form
	// Pose makes the problem of an image that keys describe, in the form's order.
	Pose func(in grid.Source, keys []float64) (P, error)
	// Fewer returns the keys of cheaper problems with the same image, the smallest first, or nil.
	Fewer func(keys []float64) [][]float64
	// Weigh returns the cost of a problem, given the cost of one read of its image.
	Weigh func(p P, keys []float64, image bench.Cost) bench.Cost
}

// Common returns the names and sharing common to all questions about an image.
func (q *Questions[P]) Common() Common {
	return Common{Form: q.Form, Tail: 8 * int64(len(q.Form.Keys))}
}

// NameOf is the name of the problem that the first keys describe, the others by default.
func (q *Questions[P]) NameOf(image string, keys ...float64) string {
	values := map[string]float64{}
	for i, k := range keys {
		values[q.Form.Keys[i].Key] = k
	}
	return q.Form.NameOf(values, image)
}

// Parse is the inverse of NameOf, with all keys.
func (q *Questions[P]) Parse(s string) (image string, keys []float64, err error) {
	values, image, err := q.Form.Parse(s)
	if err != nil {
		return "", nil, err
	}
	for _, k := range q.Form.Keys {
		keys = append(keys, values[k.Key])
	}
	return image, keys, nil
}

// Open makes the problem that a name describes.
func (q *Questions[P]) Open(name string) (p P, err error) {
	image, keys, err := q.Parse(name)
	if err != nil {
		return p, err
	}
	in, err := Inputs{}.Open(image)
	if err != nil {
		return p, err
	}
	p, err = q.Pose(in, keys)
	if err != nil {
		var none P
		return none, errors.Join(fmt.Errorf("%s: %w", name, err), grid.Close(in))
	}
	return p, nil
}

// Variants names problems of other images.
func (q *Questions[P]) Variants(name string, n int) ([]string, error) {
	return q.Common().Variants(name, n)
}

// Reseed names the problem of the image of another seed.
func (q *Questions[P]) Reseed(name string, seed uint64) string { return q.Common().Reseed(name, seed) }

// Files returns the files of the image.
func (q *Questions[P]) Files(name string) []string { return q.Common().Files(name) }

// Smaller names problems that weigh less of the image, and problems of smaller images that have
// an answer.
func (q *Questions[P]) Smaller(name string) []string {
	image, keys, err := q.Parse(name)
	if err != nil {
		return nil
	}
	var names []string
	if q.Fewer != nil {
		for _, fewer := range q.Fewer(keys) {
			names = append(names, q.NameOf(image, fewer...))
		}
	}
	for _, smaller := range (Inputs{}).Smaller(image) {
		name := q.NameOf(smaller, keys...)
		if p, err := q.Open(name); err == nil {
			names = append(names, name)
			grid.Close(p.Image())
		}
	}
	return names
}

// Cost returns the cost by Weigh.
func (q *Questions[P]) Cost(name string, p P) bench.Cost {
	image, keys, _ := q.Parse(name) // it was opened by this name
	return q.Weigh(p, keys, Inputs{}.Cost(image, p.Image()))
}

// Size returns the size of the image with the keys appended.
func (q *Questions[P]) Size(p P) int64 { return q.Common().Size(p.Image()) }

// Share writes the image and the keys.
func (q *Questions[P]) Share(p P, f *os.File) error {
	var tail []byte
	for _, k := range p.Keys() {
		tail = binary.LittleEndian.AppendUint64(tail, math.Float64bits(k))
	}
	return q.Common().Share(p.Image(), tail, f)
}

// Attach makes the problem of bytes that Share wrote.
func (q *Questions[P]) Attach(mapped []byte) (p P, err error) {
	in, tail, err := q.Common().Attach(mapped)
	if err != nil {
		return p, err
	}
	keys := make([]float64, len(q.Form.Keys))
	for i, k := range q.Form.Keys {
		keys[i] = math.Float64frombits(binary.LittleEndian.Uint64(tail[8*i:]))
		if !k.Accepts(keys[i]) {
			return p, fmt.Errorf("shared %s: %s is %v", q.Form.Kind, k.Key, keys[i])
		}
	}
	return q.Pose(in, keys)
}
