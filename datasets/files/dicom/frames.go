package dicom

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"eccbench/datasets/files/format"
)

// dicomSpatial are the dimensions of a multi-frame file that count slices. All others count
// volumes.
var dicomSpatial = []uint32{dicomPosition, dicomOrientation, dicomStackPosition, 0x00201041 /* Slice Location */}

// A dicomFrame is a frame of a file.
type dicomFrame struct {
	stack  string // frames of one stack are slices of one volume, or of several
	volume string // frames of one stack and volume are slices of one volume
	place  *format.Place
	scale  format.Scale
}

// arrange sets the place of the voxels of b: the frames of the requested volume, ordered along the
// normal, each with its own scale.
func (d *dicomFile) arrange(b *format.Body) error {
	frames, err := d.describeFrames(b.Shape.D)
	if err != nil {
		return err
	}
	order := []int{0}
	if len(frames) > 1 {
		groups, err := volumesOf(frames)
		if err != nil {
			return err
		}
		n := int64(len(groups))
		b.Shape.D /= n
		volume := int64(0)
		if v := d.in.Volume; n > 1 && v == nil || n > 1 && (*v < 0 || *v >= n) {
			return format.VolumeError{Count: n, Shape: b.Shape.String(), Asked: v}
		} else if n > 1 {
			volume, b.Volumes = *v, format.Volumes{Count: 1, Stride: 1} // the other volumes are skipped
		}
		order = groups[volume]
	} else {
		b.Place = frames[0].place
	}
	scales := make([]format.Scale, len(order))
	for i, f := range order {
		scales[i] = frames[f].scale
	}
	b.SetScales(scales)
	d.place(b, order)
	return nil
}

// place sets the offsets of the frames' bytes.
func (d *dicomFile) place(b *format.Body, order []int) {
	if d.fragments != nil {
		r := &rleReader{in: d.in, pixels: b.Shape.H * b.Shape.W, size: b.Stored.Size()}
		for _, f := range order {
			r.left = append(r.left, d.fragments[f])
			b.Packed += d.fragments[f].length
		}
		b.Inflate, b.Ratio = r, rleRatio
		return
	}
	size := b.Bytes() / int64(len(order))
	b.Offset = d.pixels.data + int64(order[0])*size
	b.In.Size = b.Offset + b.Bytes()
	if !slices.IsSorted(order) || order[len(order)-1]-order[0] != len(order)-1 {
		var chain format.Chain
		for _, f := range order {
			chain.Add(d.in, d.pixels.data+int64(f)*size, size)
		}
		b.In.ReaderAt, b.In.Held, b.In.Size, b.Offset = chain, nil, chain.Size(), 0
	}
}

// describeFrames reads the header's description of each of n frames.
func (d *dicomFile) describeFrames(n int64) ([]dicomFrame, error) {
	shared, perFrame := d.lists[dicomShared], d.lists[dicomPerFrame]
	if _, ok := d.values[dicomPerFrame]; ok && int64(len(perFrame)) != n {
		return nil, fmt.Errorf("values by groups of frames for %d frames of %d; the header is damaged", len(perFrame), n)
	}
	vectors, err := d.vectors(n)
	if err != nil {
		return nil, err
	}
	frames := make([]dicomFrame, n)
	for i := range frames {
		values := d.values
		if len(shared) > 0 || len(perFrame) > 0 {
			values = maps.Clone(values)
			for _, group := range shared[:min(1, len(shared))] {
				maps.Copy(values, group)
			}
			if len(perFrame) > 0 {
				maps.Copy(values, perFrame[i])
			}
		}
		f := &frames[i]
		if f.scale, err = values.scale(); err != nil {
			return nil, err
		}
		f.stack = values.text(dicomStack)
		if f.volume, err = d.volumeOf(values); err != nil {
			return nil, err
		}
		if n == 1 {
			f.place, err = values.place()
		} else if len(perFrame) > 0 {
			f.place, err = d.placeOf(values, perFrame[i])
		}
		if err != nil {
			return nil, err
		}
		for _, v := range vectors {
			if v.slices {
				f.place = format.NumberedPlace(v.numbers[i])
			} else {
				f.stack += fmt.Sprintf(" %v", v.numbers[i])
			}
		}
	}
	return frames, nil
}

// placeOf returns the place of a frame: its position, or its number in its stack. A position that
// all frames share is ignored.
func (d *dicomFile) placeOf(values, frame dicomValues) (*format.Place, error) {
	if frame[dicomPosition] != nil {
		return values.place()
	}
	if n := d.longs(frame[dicomStackPosition]); len(n) == 1 {
		return format.NumberedPlace(float64(n[0])), nil
	}
	return nil, nil
}

// volumeOf identifies the volume of a frame within its stack. It uses the indices of the frame
// along the dimensions of the file that count no slices.
func (d *dicomFile) volumeOf(frame dicomValues) (string, error) {
	text := fmt.Sprint(d.longs(frame[dicomTemporalIndex]))
	indices, dimensions := d.longs(frame[dicomIndexValues]), d.lists[dicomIndices]
	if len(dimensions) == 0 || len(indices) == 0 {
		return text, nil
	}
	if len(indices) != len(dimensions) {
		return "", fmt.Errorf("a frame has %d indices for %d dimensions; the header is damaged",
			len(indices), len(dimensions))
	}
	for i, dimension := range dimensions {
		if tags := d.tags(dimension[dicomIndexPointer]); len(tags) == 1 && !slices.Contains(dicomSpatial, tags[0]) {
			text += fmt.Sprintf(" %d", indices[i])
		}
	}
	return text, nil
}

// A frameVector has a number for each frame, which distinguishes slices, or volumes.
type frameVector struct {
	slices  bool
	numbers []float64
}

// vectors returns the properties that distinguish the frames of a file without functional groups.
// Its Frame Increment Pointer names them, such as slices, times or energies, or the offsets of a
// dose grid. Frames of a time series are separate images.
func (d *dicomFile) vectors(n int64) (list []frameVector, err error) {
	if n == 1 {
		return nil, nil
	}
	pointers := d.tags(d.values[dicomFramePointer])
	for _, tag := range []uint32{dicomGridOffsets, dicomFrameTime, dicomFrameTimes} {
		if d.values[tag] != nil && len(pointers) == 0 {
			pointers = append(pointers, tag)
		}
	}
	for _, tag := range pointers {
		v := frameVector{slices: tag == dicomGridOffsets || tag == dicomSliceVector}
		switch numbers := d.shorts(d.values[tag]); {
		case tag == dicomGridOffsets:
			v.numbers, err = d.values.numbers(tag, 0)
		case tag>>16 == dicomSliceVector>>16:
			for _, number := range numbers {
				v.numbers = append(v.numbers, float64(number))
			}
		case tag == dicomFrameTime || tag == dicomFrameTimes:
			for i := range n {
				v.numbers = append(v.numbers, float64(i))
			}
		default:
			err = fmt.Errorf("its frames differ by element %08x, which is not read; %s", tag, dicomConvertWords)
		}
		if err == nil && int64(len(v.numbers)) != n {
			err = fmt.Errorf("element %08x has %d numbers for %d frames; the header is damaged", tag, len(v.numbers), n)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// volumesOf groups frames to volumes of equally many slices, in the order of their first frames,
// and orders the slices of each. Frames of one stack are one volume if all their places differ.
func volumesOf(frames []dicomFrame) ([][]int, error) {
	volumes, err := groupFrames(frames, func(f dicomFrame) string { return f.stack })
	if errors.As(err, new(format.SamePlaceError)) || frames[0].place == nil {
		return groupFrames(frames, func(f dicomFrame) string { return f.stack + " " + f.volume })
	}
	return volumes, err
}

func groupFrames(frames []dicomFrame, key func(dicomFrame) string) ([][]int, error) {
	var volumes [][]int
	known := map[string]int{}
	for i, f := range frames {
		k, ok := known[key(f)]
		if !ok {
			k, volumes = len(volumes), append(volumes, nil)
			known[key(f)] = k
		}
		volumes[k] = append(volumes[k], i)
	}
	for _, volume := range volumes {
		if len(volume) != len(volumes[0]) {
			return nil, fmt.Errorf("volumes of %d and %d frames; %s", len(volumes[0]), len(volume), dicomConvertWords)
		}
		if err := sortFrames(frames, volume); err != nil {
			return nil, err
		}
	}
	return volumes, nil
}

// sortFrames sorts the frames of a volume by their places, if they have any.
func sortFrames(frames []dicomFrame, volume []int) error {
	places := make([]*format.Place, len(volume))
	for i, f := range volume {
		places[i] = frames[f].place
		if (places[i] == nil) != (places[0] == nil) {
			return errors.New("some frames have places and others none; the header is damaged")
		}
	}
	if places[0] == nil {
		return nil
	}
	name := func(i int) string { return fmt.Sprintf("frame %d", volume[i]) }
	order, err := format.OrderPlaces(places, name, dicomConvertWords)
	if err != nil {
		return err
	}
	if err := format.CheckSpacing(places, order, name, dicomConvertWords); err != nil {
		return err
	}
	frameOf := slices.Clone(volume)
	for i, k := range order {
		volume[i] = frameOf[k]
	}
	return nil
}

// scale returns the conversion of stored values to the image's.
func (v dicomValues) scale() (format.Scale, error) {
	s, err := v.numbers(dicomSlope, 1)
	if err != nil {
		return format.Scale{}, err
	}
	i, err := v.numbers(dicomIntercept, 1)
	if err != nil {
		return format.Scale{}, err
	}
	dose, err := v.numbers(dicomDoseScaling, 1)
	if err != nil {
		return format.Scale{}, err
	}
	if dose != nil && (s != nil || i != nil) {
		return format.Scale{}, errors.New("both a dose grid scaling and a rescale slope or intercept; the header is damaged")
	}
	c := format.Scale{Slope: append(append(s, dose...), 1)[0], Inter: append(i, 0)[0]}
	if c.Slope == 0 {
		return format.Scale{}, errors.New("DICOM rescale slope is 0, which makes all voxels one; correct the header")
	}
	return c, nil
}
