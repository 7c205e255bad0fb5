package fields

import (
	"fmt"
	"os"

	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// Common names and shares questions about an image. A name is a form around the name of the image;
// shared data is the image and a tail of Tail bytes.
type Common struct {
	Form name.Form
	Tail int64
}

// Variants names the question of other images.
func (o Common) Variants(s string, n int) ([]string, error) {
	values, image, err := o.Form.Parse(s)
	if err != nil {
		return nil, err
	}
	images, err := Inputs{}.Variants(image, n)
	for i := range images {
		images[i] = o.Form.NameOf(values, images[i])
	}
	return images, err
}

// Reseed names the question of the image of another seed, "" if the image has none.
func (o Common) Reseed(s string, seed uint64) string {
	values, image, err := o.Form.Parse(s)
	if err != nil {
		return ""
	}
	if image = (Inputs{}).Reseed(image, seed); image != "" {
		image = o.Form.NameOf(values, image)
	}
	return image
}

// Image returns the image's name in the name of a question, or the given name if it is no such
// name.
func (o Common) Image(s string) string {
	_, image, err := o.Form.Parse(s)
	if err != nil {
		return s
	}
	return image
}

// Files returns the files of the image.
func (o Common) Files(s string) []string {
	_, image, err := o.Form.Parse(s)
	if err != nil {
		return nil
	}
	return Inputs{}.Files(image)
}

// Size returns the size of the image and its tail.
func (o Common) Size(in grid.Source) int64 { return Inputs{}.Size(in) + o.Tail }

// Share writes the image and the tail.
func (o Common) Share(in grid.Source, tail []byte, f *os.File) error {
	if err := (Inputs{}).Share(in, f); err != nil {
		return err
	}
	_, err := f.Write(tail)
	return err
}

// Attach makes the image from the bytes that Share wrote, and returns the tail.
func (o Common) Attach(mapped []byte) (in grid.Source, tail []byte, err error) {
	end := int64(len(mapped)) - o.Tail
	if end < 0 {
		return nil, nil, fmt.Errorf("shared %s: too short", o.Form.Kind)
	}
	in, err = Inputs{}.Attach(mapped[:end:end])
	return in, mapped[end:], err
}
