package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"eccbench/datasets/storage"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// Volumes select one of several images of one shape in a file. The images follow each other if Stride is 1. Otherwise
// Stride images alternate voxel by voxel, and such groups follow each other.
type Volumes struct {
	Count  int64 // 0 for a format with a single image
	First  int64 // index of the first voxel
	Stride int64 // from one voxel to the next
}

// Frame assigns a file's axes, slowest first. The last three belong to the image, whatever their
// lengths. All others count volumes; the options select one. With fastest, the last axis counts
// volumes too.
func (b *Body) Frame(axes []int64, in Input, fastest bool) error {
	inner := int64(1)
	if fastest {
		inner, axes = axes[len(axes)-1], axes[:len(axes)-1]
	}
	for len(axes) > 3 && axes[0] == 1 {
		axes = axes[1:]
	}
	n := max(0, len(axes)-3)
	return b.Choose(axes[:n], axes[n:], inner, in)
}

// FrameUnlabelled is frame for a file without names of axes. The last axes of length 1 beyond the
// third would hold several numbers for each voxel; there is only one.
func (b *Body) FrameUnlabelled(axes []int64, in Input) error {
	for len(axes) > 3 && axes[0] == 1 {
		axes = axes[1:]
	}
	for len(axes) > 3 && axes[len(axes)-1] == 1 {
		axes = axes[:len(axes)-1]
	}
	return b.Frame(axes, in, false)
}

// Choose sets the axes of a volume. outer are the axes that count volumes, and inner is the number
// of volumes that alternate voxel by voxel. These are counted before those of the outer axes.
func (b *Body) Choose(outer, axes []int64, inner int64, in Input) error {
	var err error
	if b.Shape, err = ShapeOf(axes); err != nil {
		return err
	}
	b.Axes, b.Volumes.Count = len(axes), 1
	for _, n := range append(slices.Clone(outer), inner) {
		if n < 1 || n > math.MaxInt64/8/b.Shape.Voxels()/b.Volumes.Count {
			return fmt.Errorf("axes %v: an axis is empty, or there are more voxels than can be counted; the header is damaged",
				slices.Concat(outer, axes))
		}
		b.Volumes.Count *= n
	}
	count, volume := b.Volumes.Count, int64(0)
	if in.Volume != nil {
		volume = *in.Volume
	}
	if count > 1 && in.Volume == nil || volume < 0 || volume >= count {
		return VolumeError{count, b.Shape.WithAxes(b.Axes), in.Volume}
	}
	b.Volumes.First, b.Volumes.Stride = volume*b.Shape.Voxels(), 1
	switch {
	case inner > 1:
		b.Volumes.First, b.Volumes.Stride = volume/inner*inner*b.Shape.Voxels()+volume%inner, inner
	case b.Fortran: // the axes of volumes are the fastest, the first most of all
		b.Volumes.First, b.Volumes.Stride = 0, count
		below := count
		for i, n := range outer {
			below /= n
			place := volume / below % n
			for _, faster := range outer[:i] {
				place *= faster
			}
			b.Volumes.First += place
		}
	}
	return nil
}

// A VolumeError means that a file has several volumes, or lacks the requested one.
type VolumeError struct {
	Count int64
	Shape string
	Asked *int64
}

func (e VolumeError) Error() string {
	switch {
	case e.Count == 1:
		return fmt.Sprintf("there is no volume %d of one; leave volume out", *e.Asked)
	case e.Asked != nil:
		return fmt.Sprintf("there is no volume %d of %d; want volume 0..%d", *e.Asked, e.Count, e.Count-1)
	}
	return fmt.Sprintf("%d volumes of %s; choose one of 0..%d: --volume of the command, or the input "+
		"file/volume=N/path=FILE", e.Count, e.Shape, e.Count-1)
}

// pick reads a volume's voxels from the voxels of all volumes. r returns them in the file's order
// from packed bytes.
func (b *Body) pick(r io.Reader, packed int64) ([]byte, error) {
	size, v := b.Stored.Size(), b.Volumes
	if v.Stride <= 1 {
		if err := b.pass(r, v.First*size); err != nil {
			return nil, err
		}
		data, err := ReadExactly(r, b.Bytes(), packed)
		if err != nil {
			return nil, err
		}
		return data, b.pass(r, b.Total()-b.Bytes()-v.First*size)
	}
	group, together := v.Stride*size, v.Stride*b.Bytes()
	before := v.First * size / together * together
	if err := b.pass(r, before); err != nil {
		return nil, err
	}
	rows := max(1, (1<<20)/group)
	buf := make([]byte, 0, min(rows*group, max(1<<16, packed)))
	data := grid.NewBuffer(min(b.Bytes(), likelyRatio*packed))[:0]
	for left := b.Shape.Voxels(); left > 0; left -= rows {
		rows = min(rows, left)
		buf = storage.Extend(buf[:0], rows*group, rows*group)
		if n, err := io.ReadFull(r, buf); err != nil {
			return nil, b.short(err, int64(n))
		}
		for i := range rows {
			data = storage.Extend(data, size, b.Bytes())
			copy(data[int64(len(data))-size:], buf[i*group+v.First*size-before:][:size])
		}
	}
	return data, b.pass(r, b.Total()-together-before)
}

// pass skips n bytes.
func (b *Body) pass(r io.Reader, n int64) error {
	if got, err := io.CopyN(io.Discard, r, n); err != nil {
		return b.short(err, got)
	}
	return nil
}

// short returns the error of a reader that ends too early.
func (b *Body) short(err error, got int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("truncated: the voxels end after %d bytes of a volume, where the header states %d of %d bytes "+
			"each; copy the file again", got, max(1, b.Volumes.Count), b.Bytes())
	}
	return fmt.Errorf("reading the voxels: %w; copy the file again", storage.Cause(err))
}

// decodedVolume returns the volume's part of the decoded bytes.
func (b *Body) decodedVolume() ([]byte, error) {
	if b.Volumes.Count <= 1 {
		return b.Decoded, nil
	}
	return b.pick(bytes.NewReader(b.Decoded), int64(len(b.Decoded)))
}

// ChannelVolume returns the number of the volume that the options select by channel or number. axes
// are the axes that count volumes, and at is the index of the channel axis. Channels may have
// names.
func ChannelVolume(o Options, names []string, axes []int64, at int) (*int64, error) {
	count, each := axes[at], grid.Product(axes[at+1:])
	if o.Channel == "" {
		if len(names) > 1 && count > 1 && o.Volume == nil {
			return nil, fmt.Errorf("%d channels; choose one: --channel of the command, or the input "+
				"file/channel=NAME/path=FILE: %s", count, name.List(names))
		}
		return o.Volume, nil
	}
	channel := int64(slices.Index(names, o.Channel))
	number, err := strconv.ParseInt(o.Channel, 10, 64)
	switch isNumber := err == nil && number >= 0 && number < count; {
	case channel >= 0 && slices.Contains(names[channel+1:], o.Channel):
		return nil, fmt.Errorf("several channels are called %.80q; choose one by its number, 0..%d", o.Channel, count-1)
	case channel >= 0 && isNumber && number != channel:
		return nil, fmt.Errorf("channel %d is called %.80q, which is the number of another; choose one by volume",
			channel, o.Channel)
	case channel < 0 && isNumber:
		channel = number
	}
	if channel < 0 || channel >= count {
		which := fmt.Sprintf("want 0..%d", count-1)
		if len(names) > 0 {
			which += ", or one of " + name.List(names)
		}
		return nil, fmt.Errorf("there is no channel %.80q; %s", o.Channel, which)
	}
	// The other axes, such as time, are counted without the channels.
	others, other := grid.Product(axes[:at])*each, int64(0)
	switch {
	case o.Volume != nil:
		other = *o.Volume
	case others > 1:
		return nil, fmt.Errorf("%d volumes of each channel; choose one of 0..%d: --volume of the command, or the input "+
			"file/channel=NAME/volume=N/path=FILE", others, others-1)
	}
	if other < 0 || other >= others {
		return nil, fmt.Errorf("there is no volume %d of the %d of each channel; want volume 0..%d",
			other, others, others-1)
	}
	v := (other/each*count+channel)*each + other%each
	return &v, nil
}
