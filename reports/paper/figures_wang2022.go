package paper

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/report"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/smooth"
)

// A Figure is a picture, PNG or SVG by its name.
type Figure struct {
	Name, About string
	Data        []byte
}

// The terrain of figure 1, and the width of the panels of the other figures in pixels.
const (
	terrain = "grf/shape=320x240/levels=256/type=uint8/smooth=7/seed=11"
	panel   = 256
)

// HasFigures reports whether figures of the paper can be drawn.
func (p Paper) HasFigures() bool { return p.ID == "wang2022" }

// Figures draws versions of figures 1, 2 and 6 of Wang et al. 2022 with images of our own: the
// curves of a terrain, Gaussian random fields by smoothness, and the steps of the smoothing. count
// computes the curve of an image, which must equal the alternating sum of its Betti numbers at
// every level.
func Figures(count func(grid.Source) (ecc.VCEC, error)) ([]Figure, error) {
	s, err := datasets.Open(terrain)
	if err != nil {
		return nil, err
	}
	v, err := count(s)
	if err != nil {
		return nil, fmt.Errorf("figure 1: %w", err)
	}
	components, holes, err := ecc.Betti(s)
	if err != nil {
		return nil, fmt.Errorf("figure 1: %w", err)
	}
	var x, chi, b0, b1 []float64
	for k := range s.Ladder().Len() {
		if v.At(k) != components[k]-holes[k] {
			return nil, fmt.Errorf("figure 1: χ at level %d is %d, of %d components and %d holes",
				k, v.At(k), components[k], holes[k])
		}
		x = append(x, float64(s.Ladder().Value(k)))
		chi, b0, b1 = append(chi, float64(v.At(k))), append(b0, float64(components[k])), append(b1, float64(holes[k]))
	}
	var curves bytes.Buffer
	err = report.Steps(&curves, "sublevel sets of a terrain", "", "elevation", "count",
		report.Step{Name: "components, β₀", X: x, Y: b0}, report.Step{Name: "holes, β₁", X: x, Y: b1},
		report.Step{Name: "χ = β₀ − β₁", X: x, Y: chi})
	if err != nil {
		return nil, err
	}
	thresholds, err := flooded(s, 108, 128, 148)
	if err != nil {
		return nil, err
	}
	fields, err := smoothnesses(1, 2, 4, 8)
	if err != nil {
		return nil, err
	}
	steps, err := smoothed(0, 1, 3, 10, 100, 1000)
	if err != nil {
		return nil, err
	}
	return []Figure{
		{"figure1-curves.svg", "Euler characteristic and Betti curves of a terrain, the latter by union and find",
			curves.Bytes()},
		{"figure1-terrain.png", "the terrain flooded to 108, 128 and 148", thresholds},
		{"figure2-fields.png", "Gaussian random fields of smoothness 1, 2, 4 and 8", fields},
		{"figure6-smoothing.png", "a Gaussian random field after 0, 1, 3, 10, 100 and 1000 smoothings", steps},
	}, nil
}

// gap is the number of white pixels between panels.
const gap = 8

// sideBySide draws panels of one size in a row.
func sideBySide(n, width, height int, at func(i, x, y int) color.Color) ([]byte, error) {
	m := image.NewRGBA(image.Rect(0, 0, n*(width+gap)-gap, height))
	for i := range m.Pix {
		m.Pix[i] = 0xff
	}
	for i := range n {
		for y := range height {
			for x := range width {
				m.Set(i*(width+gap)+x, y, at(i, x, y))
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

// flooded draws a uint8 image with the pixels at or below each level in blue.
func flooded(s grid.Source, levels ...uint8) ([]byte, error) {
	data := grid.NewBuffer(grid.TotalBytes(s))
	if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
		return nil, err
	}
	width := int(s.Shape().W)
	return sideBySide(len(levels), width, int(s.Shape().H), func(i, x, y int) color.Color {
		v := data[y*width+x]
		if v <= levels[i] {
			return color.RGBA{0x20, 0x60 + v/4, 0xc0, 0xff}
		}
		return color.Gray{v}
	})
}

// smoothnesses draws the middle slices of fields in 3D.
func smoothnesses(smooth ...float64) ([]byte, error) {
	var slices [][]byte
	for _, v := range smooth {
		s, err := datasets.Open(fmt.Sprintf("grf/shape=%dx%dx9/levels=256/type=uint8/smooth=%v/seed=5", panel, panel, v))
		if err != nil {
			return nil, err
		}
		slice := grid.NewBuffer(panel * panel)
		if err := s.ReadSlab(slice, 4, 5); err != nil {
			return nil, err
		}
		slices = append(slices, slice)
	}
	return sideBySide(len(slices), panel, panel, func(i, x, y int) color.Color { return color.Gray{slices[i][y*panel+x]} })
}

// smoothed draws an image after given numbers of smoothings, each with its own range of greys.
func smoothed(after ...int64) ([]byte, error) {
	p, err := smooth.Inputs().Open(fmt.Sprintf("smooth/iterations=1/of=grf/shape=%dx%d/levels=1024/smooth=1/seed=5",
		panel, panel))
	if err != nil {
		return nil, err
	}
	images, err := p.Images(after)
	if err != nil {
		return nil, err
	}
	for _, m := range images {
		lo, hi := m[0], m[0]
		for _, v := range m {
			lo, hi = min(lo, v), max(hi, v)
		}
		for i, v := range m {
			m[i] = (v - lo) / max(hi-lo, 1e-30)
		}
	}
	return sideBySide(len(images), panel, panel, func(i, x, y int) color.Color {
		return color.Gray{uint8(255 * images[i][y*panel+x])}
	})
}
