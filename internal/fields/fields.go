// Package fields makes the inputs of image workloads: sources from their names, and whole images
// shared between processes.
package fields

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eccbench/datasets"
	"eccbench/datasets/files/format"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/quantity"
)

// Inputs makes images from the names that package datasets reads.
type Inputs struct {
	// Surveys remember the ladders of files from one opening to the next; nil for none.
	Surveys *format.Surveys
}

// Open makes the source that a name describes.
func (i Inputs) Open(name string) (grid.Source, error) { return datasets.OpenWith(i.Surveys, name) }

// Variants names up to n images of the same shape, type and ladder.
func (i Inputs) Variants(name string, n int) ([]string, error) {
	return datasets.VariantsWith(i.Surveys, name, n)
}

// Reseed names the image of another seed, "" if the image has none.
func (Inputs) Reseed(name string, seed uint64) string { return datasets.Reseed(name, seed) }

// Files returns the files of a named image.
func (Inputs) Files(name string) []string { return datasets.Files(name) }

// Smaller names generated images with fewer slices, rows, columns or levels, even for an image on a
// disk. Images of half the size are not periodic.
func (Inputs) Smaller(name string) []string {
	n, err := datasets.ParseName(name)
	if err != nil || n.FromFiles() {
		return nil
	}
	n = n.With("path", "")
	s, err := grid.ParseShape(n.Get("shape"))
	if err != nil {
		return nil
	}
	var names []string
	try := func(n datasets.Name) {
		if c, err := datasets.Canonical(n.String()); err == nil && c != name {
			names = append(names, c)
		}
	}
	shapes := func(cut func(int64) int64) {
		for _, t := range []grid.Shape{
			{D: cut(s.D), H: cut(s.H), W: cut(s.W)}, {D: cut(s.D), H: s.H, W: s.W},
			{D: s.D, H: cut(s.H), W: s.W}, {D: s.D, H: s.H, W: cut(s.W)},
		} {
			if t != s && t.Check() == nil && (t.D > 1 || s.D == 1) {
				try(n.With("shape", t.String()))
			}
		}
	}
	whole := n
	n = whole.With("repeat", "") // repetition is for large images
	shapes(func(v int64) int64 { return (v + 1) / 2 })
	n = whole
	shapes(func(v int64) int64 { return max(1, v-1) })
	if src, err := datasets.Open(name); err == nil && n.Get("levels") != "" {
		defer grid.Close(src)
		for _, m := range []int64{2, src.Ladder().Len() / 2} {
			if m >= 1 && m < src.Ladder().Len() {
				try(n.With("levels", fmt.Sprint(m)))
			}
		}
	}
	return names
}

// Cost is one read of the image. Its class is the name without the keys that distinguish images of
// a kind: shape, seed, roll, repeat and path.
func (Inputs) Cost(name string, in grid.Source) bench.Cost {
	return bench.Cost{
		Items: in.Shape().Voxels(),
		Unit:  "vox",
		Bytes: grid.TotalBytes(in),
		Class: class(name, in),
		Size:  in.Shape().String(),
	}
}

func class(name string, in grid.Source) string {
	n, err := datasets.ParseName(name)
	if err != nil {
		return "gen=unknown"
	}
	parts := []string{"gen=" + n.Generator, fmt.Sprintf("dim=%d", in.Shape().Dim())}
	for _, g := range datasets.Generators() {
		if g.Name != n.Generator {
			continue
		}
		for _, p := range g.Params {
			switch v := n.Get(p.Key); {
			case v == "" || slices.Contains([]string{"shape", "seed", "roll", "repeat", "type", "stream"}, p.Key):
			case p.Key == "path" && n.FromFiles():
				parts = append(parts, "name="+filepath.Base(v))
			case p.Key == "path":
				parts = append(parts, "from=disk")
			default:
				parts = append(parts, p.Key+"="+v)
			}
		}
	}
	return strings.Join(append(parts, "type="+in.Type().String()), "/")
}

// header precedes the bytes of a shared image, with its ladder after it.
type header struct {
	Shape  grid.Shape
	Type   grid.Type
	Images int64 // of a batch, whose slices the shape counts together; 0 for one image
	Period int64 // of a periodic image, see grid.Period
}

// align is the alignment of a shared image's bytes: a page.
const align = 4096

// encodeHeader is the header and the ladder with their length before them, padded to a page.
func encodeHeader(in grid.Source) ([]byte, error) {
	h := header{Shape: in.Shape(), Type: in.Type(), Period: grid.Period(in)}
	if batch, ok := in.(grid.Batch); ok {
		h.Images = batch.Images
	}
	b, err := binary.Append(make([]byte, 8), binary.LittleEndian, h)
	if err == nil {
		b, err = in.Ladder().AppendBinary(b)
	}
	if err != nil {
		return nil, fmt.Errorf("sharing an image: %w", err)
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)))
	padded := (len(b) + align - 1) / align * align
	return append(b, make([]byte, padded-len(b))...), nil
}

// shared returns the part of an image that is shared: one period of a periodic image if that ends
// with a page, else the whole image.
func shared(in grid.Source) grid.Source {
	if period := grid.Period(in); period > 0 && period*grid.SliceBytes(in)%align == 0 && align%os.Getpagesize() == 0 {
		return views.Crop(in, 0, period)
	}
	return in
}

// Size is the number of bytes that Share writes, or a little more.
func (Inputs) Size(in grid.Source) int64 {
	const gobOverhead = 4096
	return grid.TotalBytes(shared(in)) + in.Ladder().TableBytes() + gobOverhead + align
}

// Share writes the image for Attach, header first.
func (Inputs) Share(in grid.Source, f *os.File) error {
	h, err := encodeHeader(in)
	if err != nil {
		return err
	}
	if _, err := f.Write(h); err != nil {
		return fmt.Errorf("sharing an image of %s: %w", quantity.Bytes(grid.TotalBytes(in)), err)
	}
	if err := write(shared(in), f, int64(len(h))); err != nil {
		return fmt.Errorf("sharing an image of %s: %w", quantity.Bytes(grid.TotalBytes(in)), err)
	}
	return nil
}

// Extent returns the size of the mapping for Attach, and the offset from which it repeats the bytes
// that Share wrote. Both are 0 for an image that is not periodic.
func (Inputs) Extent(in grid.Source) (from, size int64, err error) {
	if grid.TotalBytes(shared(in)) == grid.TotalBytes(in) {
		return 0, 0, nil
	}
	h, err := encodeHeader(in)
	return int64(len(h)), int64(len(h)) + grid.TotalBytes(in), err
}

// Attach makes the image from the bytes that Share wrote. A batch becomes one image of all its
// slices.
func (Inputs) Attach(mapped []byte) (grid.Source, error) {
	f, _, err := attach(mapped)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// AttachIn is Attach with the file that is mapped, for writing.
func (Inputs) AttachIn(home *os.File, mapped []byte) (grid.Source, error) {
	f, _, err := attach(mapped)
	if err != nil {
		return nil, err
	}
	return f.InFile(home, dataAt(mapped)), nil
}

// AttachBatch makes the batch of bytes that Share wrote.
func AttachBatch(mapped []byte) (grid.Batch, error) {
	f, images, err := attach(mapped)
	if err != nil {
		return grid.Batch{}, err
	}
	if images < 1 || f.Shape().D%images != 0 {
		return grid.Batch{}, fmt.Errorf("shared batch: %d images of %v together", images, f.Shape())
	}
	return grid.Batch{Source: f, Images: images}, nil
}

// dataAt returns the offset of the image after its header.
func dataAt(mapped []byte) int64 {
	return int64((binary.LittleEndian.Uint64(mapped) + align - 1) / align * align)
}

func attach(mapped []byte) (f *grid.Field, images int64, err error) {
	if len(mapped) < 8 {
		return nil, 0, fmt.Errorf("shared image: %w", io.ErrUnexpectedEOF)
	}
	size := binary.LittleEndian.Uint64(mapped)
	if size < 8 || size > uint64(len(mapped)) {
		return nil, 0, errors.New("shared image: malformed header")
	}
	var h header
	var ladder grid.Ladder
	n, err := binary.Decode(mapped[8:size], binary.LittleEndian, &h)
	if err == nil {
		err = ladder.UnmarshalBinary(mapped[8+n : size])
	}
	if err != nil {
		return nil, 0, fmt.Errorf("shared image: %w", err)
	}
	start := uint64(dataAt(mapped))
	end := start + uint64(h.Shape.Voxels()*h.Type.Size())
	if end > uint64(len(mapped)) {
		return nil, 0, fmt.Errorf("shared image: %w", io.ErrUnexpectedEOF)
	}
	f, err = grid.Trusted(h.Shape, h.Type, mapped[start:end:end], ladder) // a question may have a tail
	if err == nil && h.Period > 0 {
		f = f.Repeating(h.Period)
	}
	return f, h.Images, err
}
