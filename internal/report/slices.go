package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
)

// A MaskSlice is one slice of the masks of a prediction and of its truth. Its voxels are in rows of width W.
type MaskSlice struct {
	Title       string
	W           int
	Pred, Truth []bool
}

// The colours of the outlines.
const predColor, truthColor = "#d55e00", "#0072b2"

// voxelColors are the colours of voxels in neither mask, in the prediction, in the truth, and in both.
var voxelColors = color.Palette{
	color.Gray{0xff}, color.RGBA{0xf6, 0xc9, 0xa0, 0xff}, color.RGBA{0xa8, 0xd0, 0xea, 0xff}, color.Gray{0xb4},
}

// Slices draws slices in a row as SVG: voxels, the outline of the truth, and over it the outline of the prediction.
func Slices(w io.Writer, title, note string, list []MaskSlice) error {
	const side, gap, top, line = 320, 20, 48, 18
	height := 0
	var panels strings.Builder
	for i, s := range list {
		scale := float64(side) / float64(s.W)
		picture, err := s.picture()
		if err != nil {
			return err
		}
		rows := len(s.Pred) / s.W
		height = max(height, int(scale*float64(rows)+0.5))
		left := gap + i*(side+gap)
		fmt.Fprintf(&panels, `<text x="%d" y="%d">%s</text>`+"\n", left, top-8, svgText(s.Title))
		fmt.Fprintf(&panels, `<g transform="translate(%d %d) scale(%.6g)" fill="none">`+
			`<image width="%d" height="%d" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`+"\n",
			left, top, scale, s.W, rows, base64.StdEncoding.EncodeToString(picture))
		for _, o := range []struct {
			color string
			width float64
			of    []bool
		}{{truthColor, 3, s.Truth}, {predColor, 1.3, s.Pred}} {
			fmt.Fprintf(&panels, `<path stroke="%s" stroke-width="%.4g" d="%s"/>`+"\n", o.color, o.width/scale,
				outline(o.of, s.W))
		}
		panels.WriteString("</g>\n")
	}
	const least = 700 // for the title and the note
	width := max(least, gap+len(list)*(side+gap))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" `+
		`font-size="12">`+"\n<title>%s</title>\n"+`<rect width="100%%" height="100%%" fill="#fff"/>`+"\n",
		width, top+height+3*line, svgText(title))
	fmt.Fprintf(&b, `<text x="%d" y="18" font-size="14">%s</text>`+"\n%s", gap, svgText(title), panels.String())
	fmt.Fprintf(&b, `<text x="%d" y="%d"><tspan fill="%s">truth</tspan>, `, gap, top+height+line, truthColor)
	fmt.Fprintf(&b, `<tspan fill="%s">prediction</tspan>; grey: both</text>`+"\n", predColor)
	fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#555">%s</text>`+"\n</svg>\n", gap, top+height+2*line, svgText(note))
	_, err := io.WriteString(w, b.String())
	return err
}

func svgText(s string) string { return html.EscapeString(VisibleText(s)) }

// picture returns the voxels as PNG, one pixel each.
func (s MaskSlice) picture() ([]byte, error) {
	m := image.NewPaletted(image.Rect(0, 0, s.W, len(s.Pred)/s.W), voxelColors)
	for i := range s.Pred {
		if s.Pred[i] {
			m.Pix[i] |= 1
		}
		if s.Truth[i] {
			m.Pix[i] |= 2
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, m)
	return b.Bytes(), err
}

// outline returns the path along the sides between voxels of a mask and other voxels.
func outline(mask []bool, w int) string {
	h := len(mask) / w
	has := func(x, y int) bool { return x >= 0 && y >= 0 && x < w && y < h && mask[y*w+x] }
	var b strings.Builder
	for y := range h + 1 {
		for x, from := 0, 0; x <= w; x++ {
			if x == w || has(x, y) == has(x, y-1) {
				if from < x {
					fmt.Fprintf(&b, "M%d %dh%d", from, y, x-from)
				}
				from = x + 1
			}
		}
	}
	for x := range w + 1 {
		for y, from := 0, 0; y <= h; y++ {
			if y == h || has(x, y) == has(x-1, y) {
				if from < y {
					fmt.Fprintf(&b, "M%d %dv%d", x, from, y-from)
				}
				from = y + 1
			}
		}
	}
	return b.String()
}
