package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	fonts "golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// WritePNG writes the plot of Write as pixels, scale for each pixel of the plot, with a font of its
// own.
func (p Plot) WritePNG(w io.Writer, scale int) error {
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	r := raster{scale: float64(scale)}
	d := xml.NewDecoder(&b)
	for {
		t, err := d.Token()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = r.take(t)
		}
		if err != nil {
			return err
		}
	}
	return png.Encode(w, r.dots)
}

// A raster draws the elements that a canvas prints, and no others.
type raster struct {
	scale float64
	dots  *image.RGBA
	open  []attributes // of the enclosing elements, the inner ones last
	words string
}

type attributes map[string]string

// attribute returns an attribute of an element or of its nearest ancestor that has it.
func (r *raster) attribute(name string) string {
	for i := len(r.open) - 1; i >= 0; i-- {
		if v, ok := r.open[i][name]; ok {
			return v
		}
	}
	return ""
}

// length is an attribute in dots.
func (r *raster) length(name string) float64 {
	v, _ := strconv.ParseFloat(r.attribute(name), 64)
	return v * r.scale
}

func (r *raster) color(name string) color.Color {
	v, err := strconv.ParseUint(strings.TrimPrefix(r.attribute(name), "#"), 16, 24)
	if err != nil {
		return color.Transparent
	}
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

func (r *raster) take(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		a := attributes{}
		for _, at := range t.Attr {
			a[at.Name.Local] = at.Value
		}
		r.open, r.words = append(r.open, a), ""
		if t.Name.Local == "svg" {
			r.dots = image.NewRGBA(image.Rect(0, 0, int(r.length("width")), int(r.length("height"))))
		}
	case xml.CharData:
		r.words += string(t)
	case xml.EndElement:
		err := r.draw(t.Name.Local)
		r.open = r.open[:len(r.open)-1]
		return err
	}
	return nil
}

func (r *raster) draw(element string) error {
	switch element {
	case "svg", "g", "title":
	case "rect":
		draw.Draw(r.dots, r.dots.Bounds(), image.NewUniform(r.color("fill")), image.Point{}, draw.Src)
	case "path":
		lines, err := r.lines(r.attribute("d"))
		if err != nil {
			return err
		}
		r.stroke(lines)
	case "circle":
		var around [][2]float64
		for i := range 33 {
			sin, cos := math.Sincos(float64(i) * math.Pi / 16)
			around = append(around, [2]float64{r.length("cx") + r.length("r")*cos, r.length("cy") + r.length("r")*sin})
		}
		v := r.shape()
		polygon(v, around)
		r.fill(v, "fill")
		r.stroke([][][2]float64{around})
	case "text":
		return r.text()
	default:
		return fmt.Errorf("an element %q in a plot", element)
	}
	return nil
}

// lines returns the polylines of a path, in pixels.
func (r *raster) lines(d string) (list [][][2]float64, err error) {
	for _, c := range "MHVhv" {
		d = strings.ReplaceAll(d, string(c), " "+string(c)+" ")
	}
	words := strings.Fields(d)
	command, at := "", [2]float64{}
	next := func() (v float64) {
		if len(words) == 0 {
			err = fmt.Errorf("a path ends in %s", command)
			return 0
		}
		v, parse := strconv.ParseFloat(words[0], 64)
		if parse != nil {
			err = fmt.Errorf("a path has %q", words[0])
		}
		words = words[1:]
		return v * r.scale
	}
	for len(words) > 0 && err == nil {
		moves := false
		if strings.Contains("MHVhv", words[0]) {
			command, words = words[0], words[1:]
			moves = command == "M"
		}
		switch command {
		case "M": // and the points that follow are lines
			at = [2]float64{next(), next()}
		case "H":
			at[0] = next()
		case "V":
			at[1] = next()
		case "h":
			at[0] += next()
		case "v":
			at[1] += next()
		default:
			return nil, fmt.Errorf("a path begins with %q", words[0])
		}
		if moves {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], at)
	}
	return list, err
}

// stroke draws polylines, dashed or not.
func (r *raster) stroke(lines [][][2]float64) {
	if r.attribute("stroke") == "" {
		return
	}
	thick := r.scale
	if r.attribute("stroke-width") != "" {
		thick = r.length("stroke-width")
	}
	var dashes []float64
	for _, s := range strings.Fields(r.attribute("stroke-dasharray")) {
		v, _ := strconv.ParseFloat(s, 64)
		dashes = append(dashes, v*r.scale)
	}
	v := r.shape()
	for _, line := range lines {
		along, on := 0.0, true // the dash that is drawn, and how much of it
		dash := 0
		for i := range len(line) - 1 {
			from, to := line[i], line[i+1]
			long := math.Hypot(to[0]-from[0], to[1]-from[1])
			for done := 0.0; done < long || long == 0 && done == 0; {
				step := long - done
				if len(dashes) > 0 {
					step = min(step, dashes[dash]-along)
				}
				if on {
					segment(v, interpolate(from, to, done/max(long, 1)), interpolate(from, to, (done+step)/max(long, 1)), thick/2,
						len(dashes) == 0)
				}
				done, along = done+step, along+step
				if len(dashes) > 0 && along >= dashes[dash] {
					dash, along, on = (dash+1)%len(dashes), 0, !on
				}
				if step == 0 && long == 0 {
					break
				}
			}
		}
	}
	r.fill(v, "stroke")
}

func interpolate(from, to [2]float64, share float64) [2]float64 {
	return [2]float64{from[0] + share*(to[0]-from[0]), from[1] + share*(to[1]-from[1])}
}

// segment adds a line that is twice half thick, and as much longer at both ends where
// others join it.
func segment(v *vector.Rasterizer, from, to [2]float64, half float64, joins bool) {
	long := math.Hypot(to[0]-from[0], to[1]-from[1])
	if long == 0 {
		return
	}
	x, y := half*(to[0]-from[0])/long, half*(to[1]-from[1])/long
	if joins {
		from, to = [2]float64{from[0] - x, from[1] - y}, [2]float64{to[0] + x, to[1] + y}
	}
	polygon(v, [][2]float64{{from[0] + y, from[1] - x}, {to[0] + y, to[1] - x}, {to[0] - y, to[1] + x},
		{from[0] - y, from[1] + x}})
}

func polygon(v *vector.Rasterizer, points [][2]float64) {
	v.MoveTo(float32(points[0][0]), float32(points[0][1]))
	for _, p := range points[1:] {
		v.LineTo(float32(p[0]), float32(p[1]))
	}
	v.ClosePath()
}

func (r *raster) shape() *vector.Rasterizer {
	return vector.NewRasterizer(r.dots.Bounds().Dx(), r.dots.Bounds().Dy())
}

func (r *raster) fill(v *vector.Rasterizer, paint string) {
	v.Draw(r.dots, r.dots.Bounds(), image.NewUniform(r.color(paint)), image.Point{})
}

var regular = sync.OnceValues(func() (*opentype.Font, error) { return opentype.Parse(goregular.TTF) })

// text draws words, from left to right or from bottom to top.
func (r *raster) text() error {
	f, err := regular()
	if err != nil {
		return err
	}
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: r.length("font-size"), DPI: 72,
		Hinting: fonts.HintingFull})
	if err != nil {
		return err
	}
	defer face.Close() // nothing of it is kept
	wide := fonts.MeasureString(face, r.words)
	anchor := map[string]float64{"": 0, "start": 0, "middle": 0.5, "end": 1}[r.attribute("text-anchor")]
	shift := anchor * float64(wide) / 64
	m := face.Metrics()
	high := (m.Ascent + m.Descent).Ceil()
	mask := image.NewAlpha(image.Rect(0, 0, wide.Ceil(), high))
	d := fonts.Drawer{Dst: mask, Src: image.Opaque, Face: face, Dot: fixed.Point26_6{Y: m.Ascent}}
	d.DrawString(r.words)
	x, y := r.length("x"), r.length("y")
	corner := image.Pt(int(math.Round(x-shift)), int(math.Round(y))-m.Ascent.Round())
	if turn := r.attribute("transform"); turn != "" {
		var by, cx, cy float64
		if _, err := fmt.Sscanf(turn, "rotate(%g %g %g)", &by, &cx, &cy); err != nil || by != -90 {
			return fmt.Errorf("a text is turned by %q", turn)
		}
		turned := image.NewAlpha(image.Rect(0, 0, high, wide.Ceil()))
		for i := range wide.Ceil() {
			for k := range high {
				turned.SetAlpha(k, wide.Ceil()-1-i, mask.AlphaAt(i, k))
			}
		}
		// A point (x, y) turns to (cx + y − cy, cy − x + cx).
		cx, cy = cx*r.scale, cy*r.scale
		corner = image.Pt(int(math.Round(cx+float64(corner.Y)-cy)), int(math.Round(cy-float64(corner.X)+cx))-wide.Ceil())
		mask = turned
	}
	draw.DrawMask(r.dots, mask.Bounds().Add(corner), image.NewUniform(r.color("fill")), image.Point{}, mask, image.Point{},
		draw.Over)
	return nil
}
