package files

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
func (v dicomValues) place() (*slicePlace, error) {
	position, err := v.numbers(dicomPosition, 3)
	if err != nil {
		return nil, err
	}
	axes, err := v.numbers(dicomOrientation, 6)
	if err != nil {
		return nil, err
	}
	p := &slicePlace{}
	if position == nil || axes == nil {
		number, err := v.numbers(dicomInstance, 1)
		if err != nil || number == nil {
			return nil, err
		}
		p = numberedPlace(number[0])
	} else {
		p.at, p.axes = [3]float64(position), [6]float64(axes)
		for i := range 3 {
			j, k := (i+1)%3, (i+2)%3
			// The conversions keep the compiler from fusing operations.
			p.normal[i] = float64(axes[j]*axes[3+k]) - float64(axes[k]*axes[3+j])
		}
	}
	p.series = v.text(dicomSeries)
	for _, t := range placeTraits {
		p.traits = append(p.traits, placeTrait{t.name, v.text(t.tag)})
	}
	return p, nil
}
