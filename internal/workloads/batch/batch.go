// Package batch defines the question of many small images: the Euler characteristic curve of each,
// read from their files one after the other (Wang et al. 2022, section 5.2). Reading them without
// counting is a separate question.
package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"eccbench/datasets"
	"eccbench/datasets/files"
	"eccbench/datasets/storage"
	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/workloads/ecc"
)

// Name is the name of the workload.
const Name = "ecc-batch"

// most is the largest number of images of a batch.
const most = 1 << 20

// A Batch is images of one shape, type and ladder, which are read anew each time,
// or are in memory together.
type Batch struct {
	like   grid.Source // the first image: shape, type and ladder
	images []image     // empty if the batch is in memory
	whole  grid.Batch  // all slices one after the other
}

// An image of a batch is a file, or a generator if it has no file.
type image struct {
	name, file string
	made       grid.Source
}

// Len is the number of images.
func (b *Batch) Len() int { return int(b.whole.Images) }

// Source opens image i. The caller closes a source that is an io.Closer.
func (b *Batch) Source(i int) (grid.Source, error) {
	if f, ok := b.whole.FieldAt(int64(i)); ok {
		return f, nil
	}
	return datasets.Open(b.images[i].name)
}

// read reads slices lo ≤ k < hi of image i: opens, reads and closes its file.
func (b *Batch) read(i int64, dst []byte, lo, hi int64) error {
	m := b.images[i]
	if m.file == "" {
		return m.made.ReadSlab(dst, lo, hi)
	}
	return storage.ReadFileAt(m.file, dst, lo*grid.SliceBytes(b.like))
}

// First is the first image: shape, type and ladder of all.
func (b *Batch) First() grid.Source { return b.like }

// Whole is all images one after the other.
func (b *Batch) Whole() grid.Batch { return b.whole }

// ReadImage reads all of image i.
func (b *Batch) ReadImage(i int64, dst []byte) error {
	return b.read(i, dst, 0, b.like.Shape().Slices())
}

// Cool puts the files out of the host's page cache.
func (b *Batch) Cool() (cold bool, err error) {
	cold = true
	for _, m := range b.images {
		if m.file == "" {
			continue
		}
		c, err := files.CoolFile(m.file)
		if err != nil {
			return false, err
		}
		cold = cold && c
	}
	return cold, nil
}

// Inputs makes batches from names batch/count=N/of=IMAGE: the image, and images with the following
// seeds.
type Inputs struct{}

// Form returns the form of the names of batches.
func Form() name.Form {
	return name.Form{Kind: "batch", Keys: []name.Key{{
		Key: "count", Doc: "images per question: the given one and the next seeds; also of softecc",
		Min: 1, Max: most, Default: 100,
	}}}
}

// parse splits a name.
func parse(s string) (count int, image string, err error) {
	values, image, err := Form().Parse(s)
	return int(values["count"]), image, err
}

// NameOf returns the name of a batch of count images from image on.
func NameOf(count int, image string) string {
	return Form().NameOf(map[string]float64{"count": float64(count)}, image)
}

// Open makes the batch that a name describes. Each file is compared with its
// name.
func (Inputs) Open(name string) (*Batch, error) {
	names, err := listed(name)
	if err != nil {
		return nil, err
	}
	count := len(names)
	b := &Batch{images: make([]image, count)}
	err = Spread(count, runtime.GOMAXPROCS(0), func(_, i int) error {
		s, err := datasets.Open(names[i])
		if err != nil {
			return err
		}
		m := image{name: names[i], file: datasets.StoredFile(names[i])}
		if m.file == "" {
			m.made = s
		}
		if c, ok := s.(io.Closer); ok {
			if m.file == "" {
				return errors.Join(fmt.Errorf("batch %q: want generated images", name), c.Close())
			}
			c.Close() // only looked at
		}
		if b.images[i] = m; i == 0 {
			b.like = s
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.whole = grid.Batch{Source: stack{b}, Images: int64(count)}
	return b, nil
}

// listed are the names of the images of a batch.
func listed(name string) ([]string, error) {
	count, first, err := parse(name)
	if err != nil {
		return nil, err
	}
	names, err := datasets.Variants(first, count)
	if err == nil && len(names) < count {
		err = fmt.Errorf("batch %q: only %d different images are of this kind", name, len(names))
	}
	return names, err
}

// Sketch is a batch that has its first image alone, again and again, where images are made.
func (Inputs) Sketch(name string) (*Batch, bool) {
	names, err := listed(name)
	if err != nil || datasets.StoredFile(names[0]) != "" {
		return nil, false
	}
	s, err := datasets.Open(names[0])
	if err != nil {
		return nil, false
	}
	if c, ok := s.(io.Closer); ok { // Open reports the error
		c.Close() // only looked at
		return nil, false
	}
	b := &Batch{like: s, images: slices.Repeat([]image{{name: names[0], made: s}}, len(names))}
	b.whole = grid.Batch{Source: stack{b}, Images: int64(len(names))}
	return b, true
}

// A stack is the images of a batch as one: their slices, one after the other.
type stack struct{ *Batch }

func (s stack) Shape() grid.Shape {
	shape := s.like.Shape()
	shape.D *= int64(len(s.images))
	return shape
}
func (s stack) Type() grid.Type     { return s.like.Type() }
func (s stack) Ladder() grid.Ladder { return s.like.Ladder() }

// ReadSlab reads images, and parts of the first and the last one, on all cores.
func (s stack) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	if len(s.images) == 1 {
		return s.read(0, dst, lo, hi)
	}
	each, size := s.like.Shape().D, grid.SliceBytes(s)
	first := lo / each
	return Spread(int((hi+each-1)/each-first), runtime.GOMAXPROCS(0), func(_, k int) error {
		i := first + int64(k)
		from, to := max(lo, i*each), min(hi, (i+1)*each)
		slab := dst[(from-lo)*size : (to-lo)*size]
		if from, to = from-i*each, to-i*each; each == 1 { // a slice of a 2D image is a row
			to = s.like.Shape().H
		}
		return s.read(i, slab, from, to)
	})
}

// Variants names batches of images that no other has.
func (Inputs) Variants(name string, n int) ([]string, error) {
	count, first, err := parse(name)
	if err != nil {
		return nil, err
	}
	all, err := datasets.Variants(first, count*n)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := 0; i+count <= len(all); i += count {
		names = append(names, NameOf(count, all[i]))
	}
	return names, nil
}

// Files returns the files of the images of a batch.
func (Inputs) Files(name string) []string {
	count, first, err := parse(name)
	if err != nil || len(datasets.Files(first)) == 0 {
		return nil
	}
	names, err := datasets.Variants(first, count)
	if err != nil {
		return nil
	}
	var list []string
	for _, n := range names {
		list = append(list, datasets.Files(n)...)
	}
	return list
}

// Smaller names batches of fewer images.
func (Inputs) Smaller(name string) []string {
	count, first, err := parse(name)
	if err != nil || count == 1 {
		return nil
	}
	return []string{NameOf((count+1)/2, first), NameOf(count-1, first)}
}

// Cost is one read of all images.
func (Inputs) Cost(name string, b *Batch) bench.Cost {
	class := "gen=batch"
	if _, image, err := parse(name); err == nil {
		class += "/of=" + strings.TrimPrefix(fields.Inputs{}.Cost(image, b.like).Class, "gen=")
	}
	n := int64(b.Len())
	return bench.Cost{
		Items: n * b.like.Shape().Voxels(), Unit: "vox", Bytes: n * grid.TotalBytes(b.like),
		Class: class,
		Size:  fmt.Sprintf("%vx%d", b.like.Shape(), n),
	}
}

// Size is the number of bytes that Share writes.
func (Inputs) Size(b *Batch) int64 { return fields.Inputs{}.Size(b.whole) }

// Share writes all images one after the other.
func (Inputs) Share(b *Batch, f *os.File) error { return fields.Inputs{}.Share(b.whole, f) }

// Attach makes the batch of bytes that Share wrote.
func (Inputs) Attach(mapped []byte) (*Batch, error) {
	whole, err := fields.AttachBatch(mapped)
	if err != nil {
		return nil, err
	}
	first, _ := whole.FieldAt(0) // an attached image is in memory
	return &Batch{like: first, whole: whole}, nil
}

// Encode writes the curves' changes one after the other.
func Encode(list []ecc.VCEC) []byte {
	b := binary.AppendUvarint(nil, uint64(len(list)))
	for _, v := range list {
		one := ecc.Encode(v)
		b = append(binary.AppendUvarint(b, uint64(len(one))), one...)
	}
	return b
}

// Decode is the inverse of Encode.
func Decode(b []byte) ([]ecc.VCEC, error) {
	malformed := errors.New("malformed batch of VCECs")
	n, k := binary.Uvarint(b)
	if k <= 0 || n > most {
		return nil, malformed
	}
	b = b[k:]
	list := make([]ecc.VCEC, n)
	for i := range list {
		size, k := binary.Uvarint(b)
		if k <= 0 || size > uint64(len(b)-k) {
			return nil, malformed
		}
		v, err := ecc.Decode(b[k : k+int(size)])
		if err != nil {
			return nil, err
		}
		list[i], b = v, b[k+int(size):]
	}
	if len(b) > 0 {
		return nil, malformed
	}
	return list, nil
}
