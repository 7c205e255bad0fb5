package ondevice

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"eccbench/impls/betti/duality"
	curves "eccbench/impls/betticurves/duality"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti/counting"
)

// A Betti describes sets. If Above, sets have the voxels above each value, not those up to it. If Every, the numbers of
// all sets are counted together, from the changes between them. Values are then ascending and distinct, or missing for
// 0 to 255 of uint8. If Above, the first set is that of the greatest value.
type Betti struct {
	Above bool `json:"above"`
	Every bool `json:"every"`
}

// numbers returns a function that loads the kernels for Betti numbers.
func (r Request) numbers(s grid.Shape, t grid.Type) (func(device.Guest) (*Plan, error), error) {
	q := sets{shape: s, typ: t, above: r.Betti.Above}
	for _, v := range r.At {
		q.values = append(q.values, float32(v))
	}
	sorted := q.sorted()
	of, witness := q.separately, sorted.loadCounter
	var rows []int
	switch {
	case r.Betti.Every:
		if len(sorted.values) != len(q.values) || !slices.IsSorted(q.values) {
			return nil, errors.New("at: want ascending values")
		}
		of, q = q.loadCounter, q.inRows()
		witness = q.separately
		for k := range q.values {
			rows = append(rows, k)
		}
	case len(q.values) == 0:
		return nil, errors.New("at is empty: want one value or more")
	default:
		for _, v := range q.values {
			k, _ := slices.BinarySearch(sorted.values, v)
			if q.above {
				k = len(sorted.values) - 1 - k
			}
			rows = append(rows, k)
		}
	}
	return func(d device.Guest) (*Plan, error) {
		b, err := of(d)
		if err != nil {
			return nil, err
		}
		return &Plan{
			Rows: b.Answer() / numbersBytes, Memory: b.Memory(), Most: b.Most(), kernels: b, enqueue: b.Enqueue,
			image: s.Voxels() * t.Size(), answer: b.Answer(),
			check: &check{open: func(d device.Guest) (opened, error) {
				b, err := witness(d)
				return &other{b, d, rows, func(image int64, k int) string {
					return fmt.Sprintf("the Betti numbers of image %d at value %v", image, q.values[k])
				}}, err
			}},
		}, nil
	}, nil
}

const numbersBytes = 3 * 8 // bytes of the numbers of a set

// sets are the sets of an image up to some values, or above them.
type sets struct {
	shape  grid.Shape
	typ    grid.Type
	values []float32
	above  bool
}

// separately loads the kernels that count each set on its own.
func (q sets) separately(d device.Guest) (*counting.Batch, error) {
	return duality.OpenBatch(d, q.shape, q.typ, q.values, q.above)
}

// loadCounter loads the kernels that count the changes between the sets. They share no code with the others.
func (q sets) loadCounter(d device.Guest) (*counting.Batch, error) {
	return curves.OpenBatch(d, q.shape, q.typ, q.values, q.above)
}

// sorted returns the sets of the distinct values, ascending.
func (q sets) sorted() sets {
	q.values = slices.Clone(q.values)
	slices.Sort(q.values)
	q.values = slices.Compact(q.values)
	return q
}

// inRows returns the sets in the order of the rows of their numbers when they are counted together.
func (q sets) inRows() sets {
	q.values = slices.Clone(q.values)
	if len(q.values) == 0 {
		for v := range 256 {
			q.values = append(q.values, float32(v))
		}
	}
	if q.above {
		slices.Reverse(q.values)
	}
	return q
}

// other counts in another way, as the witness of numbers.
type other struct {
	*counting.Batch
	on   device.Guest
	rows []int                             // of its own numbers, for each row of the answers
	name func(image int64, row int) string // of numbers
}

func (o *other) compare(s device.Stream, images int64, image device.Buffer, answers []byte) (err error) {
	most := min(images, o.Most())
	memory, err := o.on.Alloc("the witness's memory", most*o.Memory())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	theirs, err := o.on.Alloc("the witness's numbers", most*o.Answer())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, theirs.Close()) }()
	each := image.Bytes() / images
	for first := int64(0); first < images; first += most {
		n := min(most, images-first)
		some := o.on.LentBuffer("the caller's images", image.Address()+uint64(first*each), n*each)
		if err := o.Enqueue(s, n, some, theirs, memory); err != nil {
			return err
		}
		want := make([]byte, n*o.Answer())
		if err := s.Download(want, theirs, 0); err != nil {
			return err
		}
		for i := range n {
			for k, row := range o.rows {
				at := (first+i)*int64(len(o.rows)) + int64(k)
				got, want := numbersAt(answers, at), numbersAt(want, i*o.Answer()/numbersBytes+int64(row))
				if got != want {
					return Wrong(fmt.Sprintf("%s are WRONG: %v, by the other kernels %v", o.name(first+i, k), got, want))
				}
			}
		}
	}
	return nil
}

func numbersAt(data []byte, i int64) (n [3]int64) {
	for k := range n {
		n[k] = int64(binary.LittleEndian.Uint64(data[numbersBytes*i+8*int64(k):]))
	}
	return n
}
