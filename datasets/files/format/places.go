package format

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// spacingTolerance is the largest deviation of a step between slices from the median step, relative
	// to its length. A missing slice doubles a step.
	spacingTolerance = 0.25
	// samePlace is the greatest distance of two slices at one place, relative to the mean step.
	samePlace = 0.01
	// directionTolerance is the greatest difference of direction cosines of one direction.
	directionTolerance = 1e-3
)

// A Place is the place of an image in a series, from its header.
type Place struct {
	Series   string
	numbered bool       // placed by its number alone
	At       [3]float64 // in mm; or the number, then zeros
	Axes     [6]float64 // the directions of rows and columns
	Normal   [3]float64
	Traits   []Trait
}

// A Trait is a property that may differ from other images at one place.
type Trait struct{ Name, Value string }

// NumberedPlace returns the place of an image that has only a number.
func NumberedPlace(number float64) *Place {
	return &Place{numbered: true, At: [3]float64{number}, Normal: [3]float64{1}}
}

// position returns the coordinate of the place along the normal of another one.
func (p *Place) position(first *Place) float64 {
	return float64(p.At[0]*first.Normal[0]) + float64(p.At[1]*first.Normal[1]) + float64(p.At[2]*first.Normal[2])
}

// stacksWith reports whether two images can be slices of one volume.
func (p *Place) stacksWith(first *Place) bool {
	if p.Series != first.Series || p.numbered != first.numbered {
		return false
	}
	for i := range p.Axes {
		if math.Abs(p.Axes[i]-first.Axes[i]) > directionTolerance {
			return false
		}
	}
	return true
}

// A SamePlaceError is the error of two images at one place.
type SamePlaceError struct{ text string }

func (e SamePlaceError) Error() string { return e.text }

// OrderPlaces returns the order of the slices of a volume along their normal. name returns the name
// of a slice, and advice is the end of an error.
func OrderPlaces(places []*Place, name func(i int) string, advice string) ([]int, error) {
	first := places[0]
	if n := first.Normal; math.Abs(float64(n[0]*n[0])+float64(n[1]*n[1])+float64(n[2]*n[2])-1) > 0.1 {
		return nil, fmt.Errorf("%s: its rows and columns (ImageOrientationPatient) are not at right angles; correct the "+
			"header",
			name(0))
	}
	order := make([]int, len(places))
	for i, p := range places {
		order[i] = i
		if !p.stacksWith(first) {
			return nil, fmt.Errorf("%s: of another series or direction than %s; %s", name(i), name(0), advice)
		}
	}
	along := func(i int) float64 { return places[order[i]].position(first) }
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(places[a].position(first), places[b].position(first))
	})
	last := len(order) - 1
	for i := range last {
		if along(i+1)-along(i) > samePlace*(along(last)-along(0))/float64(last) {
			continue
		}
		a, b := min(order[i], order[i+1]), max(order[i], order[i+1])
		return nil, SamePlaceError{fmt.Sprintf("%s: at the place of %s%s; %s",
			name(b), name(a), places[b].differs(places[a]), advice)}
	}
	return order, nil
}

// differs describes the first difference from another image at the same place.
func (p *Place) differs(other *Place) string {
	for i := range min(len(p.Traits), len(other.Traits)) {
		if a, b := p.Traits[i], other.Traits[i]; a != b {
			return fmt.Sprintf(" and of another %s (%.40q and %.40q)", a.Name, a.Value, b.Value)
		}
	}
	return ""
}

// CheckSpacing rejects slices with unequal steps, in the order along their normal. The step may be
// oblique, as with a tilted gantry.
func CheckSpacing(places []*Place, order []int, name func(i int) string, advice string) error {
	if len(order) < 3 {
		return nil
	}
	// For each step: its length along the normal, and its shift in the plane.
	var steps [4][]float64
	normal := places[0].Normal
	for i := range len(order) - 1 {
		a, b := places[order[i]], places[order[i+1]]
		length := b.position(places[0]) - a.position(places[0])
		for k := range 3 {
			steps[k] = append(steps[k], b.At[k]-a.At[k]-float64(length*normal[k]))
		}
		steps[3] = append(steps[3], length)
	}
	var usual [4]float64
	for k := range steps {
		usual[k] = slices.Sorted(slices.Values(steps[k]))[(len(steps[k])-1)/2]
	}
	for i := range len(order) - 1 {
		length := steps[3][i]
		shift := math.Hypot(math.Hypot(steps[0][i]-usual[0], steps[1][i]-usual[1]), steps[2][i]-usual[2])
		switch {
		case math.Abs(length-usual[3]) > spacingTolerance*usual[3]:
			return fmt.Errorf("%s: %.6g after %s, where most slices are %.6g apart (±%.0f %%): "+
				"one is missing or of another volume; %s",
				name(order[i+1]), length, name(order[i]), usual[3], 100*spacingTolerance, advice)
		case shift > spacingTolerance*usual[3]:
			return fmt.Errorf("%s: shifted by %.6g in its plane against %s, where slices are %.6g apart; %s",
				name(order[i+1]), shift, name(order[i]), usual[3], advice)
		}
	}
	return nil
}
