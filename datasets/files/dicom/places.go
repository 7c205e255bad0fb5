package dicom

import "eccbench/datasets/files/format"

// placeTraits are the properties that may differ between images at one place.
var placeTraits = []struct {
	tag  uint32
	name string
}{
	{dicomTemporal, "temporal position"}, {dicomEchoTime, "echo time"}, {dicomEcho, "echo number"},
	{dicomTriggerTime, "trigger time"}, {dicomAcquisition, "acquisition number"},
	{dicomImageType, "image type"}, {dicomContentTime, "content time"},
}

// place returns the position of the image, its number if it has no position, or nil for neither.
func (v dicomValues) place() (*format.Place, error) {
	position, err := v.numbers(dicomPosition, 3)
	if err != nil {
		return nil, err
	}
	axes, err := v.numbers(dicomOrientation, 6)
	if err != nil {
		return nil, err
	}
	p := &format.Place{}
	if position == nil || axes == nil {
		number, err := v.numbers(dicomInstance, 1)
		if err != nil || number == nil {
			return nil, err
		}
		p = format.NumberedPlace(number[0])
	} else {
		p.At, p.Axes = [3]float64(position), [6]float64(axes)
		for i := range 3 {
			j, k := (i+1)%3, (i+2)%3
			// The conversions keep the compiler from fusing operations.
			p.Normal[i] = float64(axes[j]*axes[3+k]) - float64(axes[k]*axes[3+j])
		}
	}
	p.Series = v.text(dicomSeries)
	for _, t := range placeTraits {
		p.Traits = append(p.Traits, format.Trait{Name: t.name, Value: v.text(t.tag)})
	}
	return p, nil
}
