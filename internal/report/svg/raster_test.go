package svg

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
)

func drawn(t *testing.T, p Plot) (image.Image, int) {
	t.Helper()
	var b bytes.Buffer
	if err := p.WritePNG(&b, 2); err != nil {
		t.Fatal(err)
	}
	size := b.Len()
	m, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return m, size
}

// is reports whether a dot has about the given colour.
func is(m image.Image, x, y float64, want uint32) bool {
	r, g, b, _ := m.At(int(2*x), int(2*y)).RGBA()
	near := func(a, b uint32) bool { return max(a, b)-min(a, b) < 24 }
	return near(r>>8, want>>16) && near(g>>8, want>>8&255) && near(b>>8, want&255)
}

// Dots are where the lengths of the plot put them: steps, the zero line, marks with their bars,
// dashes, and upright and turned words.
func TestPNG(t *testing.T) {
	p := Plot{
		Title: "title", Note: "note", Width: 400, Height: 300, X: Axis{Label: "along"}, Y: Axis{Label: "up"},
		Lines: []Line{
			{Color: "#0000ff", X: []float64{0, 1, 3}, Y: []float64{-1, 2, 1}},
			{Name: "dotted", Color: "#ff0000", Dashes: "20 20", X: []float64{0, 3}, Y: []float64{1.5, 1.5}, Marks: []Mark{{Lo: 1.5, Hi: 1.5}, {Hollow: true, Lo: 0.5, Hi: 1.8}}},
		},
	}
	m, _ := drawn(t, p)
	if err := p.layout(); err != nil {
		t.Fatal(err)
	}
	if m.Bounds() != image.Rect(0, 0, int(2*p.Width), int(2*p.Height)) {
		t.Fatalf("%v dots of a plot of %v × %v", m.Bounds(), p.Width, p.Height)
	}
	at := func(what string, x, y float64, want uint32) {
		t.Helper()
		if !is(m, x, y, want) {
			t.Errorf("%s: %v at %v, %v, want %06x", what, m.At(int(2*x), int(2*y)), x, y, want)
		}
	}
	at("the second step", p.X.pixelOf(2), p.Y.pixelOf(2), 0x0000ff)
	at("between the first two", p.X.pixelOf(1), p.Y.pixelOf(0.6), 0x0000ff)
	at("beside the steps", p.X.pixelOf(2)+2, p.Y.pixelOf(1.9)+3, 0xffffff)
	at("the zero line", p.X.pixelOf(2.2), p.Y.pixelOf(0), 0x808080)
	at("the axis", p.X.from, p.Y.pixelOf(1.3), 0x202020)
	at("a mark", p.X.pixelOf(0), p.Y.pixelOf(1.5), 0xff0000)
	at("a hollow mark", p.X.pixelOf(3), p.Y.pixelOf(1.5), 0xffffff)
	at("its bar", p.X.pixelOf(3), p.Y.pixelOf(0.7), 0xff0000)
	at("a dash", p.X.pixelOf(0)+10, p.Y.pixelOf(1.5), 0xff0000)
	at("between two", p.X.pixelOf(0)+30, p.Y.pixelOf(1.5)+0.4, 0xffffff)
	for what, r := range map[string]image.Rectangle{
		"title": image.Rect(int(p.Width)-60, 10, int(p.Width)+60, 46), "note": image.Rect(int(p.Width)-60, 50, int(p.Width)+60, 68),
		"label of x": image.Rect(int(p.X.from+p.X.to)-60, int(2*p.Y.from)+60, int(p.X.from+p.X.to)+60, 600),
		"label of y": image.Rect(8, int(p.Y.from+p.Y.to)-40, 40, int(p.Y.from+p.Y.to)+40), "legend": image.Rect(int(2*p.X.to)+90, int(2*p.Y.to)+30, int(2*p.Width), int(2*p.Y.to)+80),
	} {
		dark := 0
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if c := color.GrayModel.Convert(m.At(x, y)).(color.Gray); c.Y < 96 {
					dark++
				}
			}
		}
		if dark < 20 || dark > r.Dx()*r.Dy()/2 {
			t.Errorf("%s: %d dark dots of %d", what, dark, r.Dx()*r.Dy())
		}
	}
}

// A plot of a million steps is as small as a plot of a few.
func TestPNGOfManySteps(t *testing.T) {
	l := Line{Color: "#0072b2"}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 1_000_000 {
		l.X, l.Y = append(l.X, float64(i)), append(l.Y, rng.NormFloat64())
	}
	if _, size := drawn(t, Plot{Title: "noise", Width: 720, Height: 440, Lines: []Line{l}}); size > 200_000 {
		t.Errorf("%d bytes", size)
	}
}

// A canvas returns an error for an SVG element that it does not support.
func TestPNGRefuses(t *testing.T) {
	for _, element := range []string{`<ellipse/>`, `<path d="M1 2C3 4" stroke="#000000"/>`, `<path d="M1" stroke="#000000"/>`, `<path d="1 2"/>`, `<text transform="scale(2)" font-size="3">x</text>`} {
		r := raster{scale: 1}
		d := xml.NewDecoder(strings.NewReader(`<svg width="9" height="9">` + element + `</svg>`))
		var err error
		for err == nil {
			var tok xml.Token
			if tok, err = d.Token(); err != nil {
				t.Errorf("%s is drawn", element)
				break
			}
			err = r.take(tok)
		}
	}
}
