package raster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/decimal"
	"eccbench/internal/grid"
)

// A tiffLayout describes the planes in a file's pages. They are slices of one volume, or of several
// volumes that differ by channel, time or another axis.
type tiffLayout struct {
	axes     []tiffAxis // the axes that count the planes, slowest first
	planes   []int64    // the plane at each place along the axes; nil for planes in order
	channels []string   // the names of the channels, if any
	// height and width are the size of planes. A larger page holds several parts in order, one
	// plane each.
	height, width, parts int64
	// contiguous means that the only page describes all planes, which follow its own in the file.
	contiguous   bool
	order        []int64 // of the axes of space, for Permute; nil for z, y, x
	scaled       bool    // by ImageJ's calibration
	slope, inter float64
}

// A tiffAxis is an axis with its letter in ImageJ, OME and tifffile.
type tiffAxis struct {
	kind   byte
	length int64
}

// The kinds of axes of planes. All others, such as time, count volumes.
const (
	tiffDepthAxis   = 'Z'
	tiffChannelAxis = 'C'
	tiffOtherAxis   = 'Q' // of unknown meaning
	tiffSeriesAxis  = 'I' // images in a series
)

// arrange reads the axes from the first page's description by ImageJ, OME or tifffile. Pages
// without a description are slices, or volumes if a page has depth.
func (t *tiffFile) arrange(pages []*tiffPage) (l tiffLayout, err error) {
	first, n := pages[0], int64(len(pages))
	l.height, l.width, l.parts = first.height, first.width, 1
	for i, p := range pages[1:] {
		if p.number < pages[i].number {
			return l, fmt.Errorf("page %d has number %d and follows number %d; save the pages in order",
				p.index+1, p.number, pages[i].number)
		}
	}
	switch text := first.description; {
	case first.vendor == "MetaMorph":
		return l, errors.New("a MetaMorph stack, which describes its planes in tags of its own; convert it first: " +
			"bfconvert FILE image.ome.tif (Bio-Formats)")
	case strings.HasPrefix(text, "ImageJ="):
		err = l.imagej(text, n, first)
	case strings.HasSuffix(strings.TrimSpace(text), "OME>"):
		err = l.ome(text, pages)
	case isShaped(text):
		err = l.shaped(pages)
	case n > 1 && (first.vendor != "" || strings.HasPrefix(text, "scanimage.SI") ||
		strings.HasPrefix(text, "state.config")):
		return l, fmt.Errorf("pages of %s, which describes them in a way of its own; convert it first: bfconvert FILE "+
			"image.ome.tif (Bio-Formats)", first.maker())
	case first.depth > 1:
		l.axes = []tiffAxis{{tiffSeriesAxis, n}, {tiffDepthAxis, first.depth}}
	default:
		l.axes = []tiffAxis{{tiffDepthAxis, n}}
	}
	if err != nil {
		return l, err
	}
	if have, want := n*first.depth*l.parts, l.size(); have != want {
		if l.contiguous = n == 1 && t.contiguous(first, float64(want)/float64(l.parts)); !l.contiguous {
			return l, fmt.Errorf("its description states %s, and the file has %d planes; save it again, as a plain stack",
				l.text(), have)
		}
	}
	return l, nil
}

// maker returns the program that described a page.
func (p *tiffPage) maker() string {
	if p.vendor != "" {
		return p.vendor
	}
	return "ScanImage"
}

// contiguous reports whether several pages can follow each other from a page's pixels on.
func (t *tiffFile) contiguous(p *tiffPage, pages float64) bool {
	if p.compression != tiffPlain || p.tiled || p.depth > 1 || p.bilevel || p.predictor != tiffNoPredictor {
		return false
	}
	start := p.offsets[0]
	end := start
	for i, at := range p.offsets {
		if at != end {
			return false
		}
		end += uint64(p.packedBytes(int64(i)))
	}
	last := float64(start) + float64(end-start)*pages
	between := func(d [2]int64) bool { return float64(d[0]) < last && uint64(d[1]) > start }
	return last <= float64(t.in.Size) && !slices.ContainsFunc(t.directories, between)
}

// plane finds a plane by its number: its page, its place in the page's depth, and its part.
func (t *tiffFile) plane(pages []*tiffPage, l tiffLayout, i int64) (p *tiffPage, z, part int64) {
	i, part = i/l.parts, i%l.parts
	if !l.contiguous {
		return pages[i/pages[0].depth], i % pages[0].depth, part
	}
	one := *pages[0]
	size := one.height * one.rowBytes(true)
	one.segmentH, one.stripH = one.height, one.height
	one.offsets, one.counts = []uint64{one.offsets[0] + uint64(i*size)}, []uint64{uint64(size)}
	return &one, 0, part
}

// size returns the number of planes, limited to the largest int64.
func (l tiffLayout) size() int64 {
	n := int64(1)
	for _, a := range l.axes {
		if a.length > math.MaxInt64/n {
			return math.MaxInt64
		}
		n *= a.length
	}
	return n
}

// text formats the axes for messages.
func (l tiffLayout) text() string {
	var words []string
	for _, a := range l.axes {
		words = append(words, fmt.Sprintf("%c %d", a.kind, a.length))
	}
	return strings.Join(words, ", ")
}

// choose sets the shape of the selected image and returns its planes.
func (l tiffLayout) choose(b *format.Body, in format.Input) ([]int64, error) {
	var outer, steps []int64
	depth, depthStep, channel := int64(1), int64(0), -1
	step := l.size()
	for _, a := range l.axes {
		step /= a.length
		if a.kind == tiffDepthAxis {
			depth, depthStep = a.length, step
			continue
		}
		if a.kind == tiffChannelAxis {
			channel = len(outer)
		}
		outer, steps = append(outer, a.length), append(steps, step)
	}
	var err error
	switch {
	case channel >= 0:
		if in.Volume, err = format.ChannelVolume(in.Options, l.channels, outer, channel); err != nil {
			return nil, err
		}
	case in.Channel != "":
		return nil, errors.New("its description names no axis of channels; leave channel out, or choose by volume")
	}
	plane := []int64{depth, l.height, l.width}
	if depth == 1 {
		plane = plane[1:]
	}
	if err := b.Choose(outer, plane, 1, in); err != nil {
		if len(outer) > 0 && grid.Product(outer) > 1 {
			return nil, fmt.Errorf("axes %s: %w", l.text(), err)
		}
		return nil, err
	}
	volume, place := b.Volumes.First/b.Shape.Voxels(), int64(0)
	for i := len(outer) - 1; i >= 0; i-- {
		place += volume % outer[i] * steps[i]
		volume /= outer[i]
	}
	b.In, b.Volumes = in, format.Volumes{Count: 1, Stride: 1} // only its planes are read
	planes := make([]int64, depth)
	for z := range planes {
		planes[z] = place + int64(z)*depthStep
		if l.planes != nil {
			planes[z] = l.planes[planes[z]]
		}
	}
	return planes, nil
}

// imagej reads ImageJ's description. Planes are ordered by channel, slice and frame, channels
// first, unless it gives another order.
func (l *tiffLayout) imagej(text string, pages int64, p *tiffPage) (err error) {
	fields := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		fields[key] = value
	}
	number := func(key string) int64 {
		n, bad := int64(1), error(nil)
		if v, ok := fields[key]; ok {
			n, bad = strconv.ParseInt(v, 10, 32)
		}
		if bad != nil || n < 1 {
			err = fmt.Errorf("ImageJ states %s=%.20s; want a number of at least 1, so save it from ImageJ again",
				key, fields[key])
		}
		return max(1, n)
	}
	images, lengths := number("images"), map[byte]int64{'c': number("channels"), 'z': number("slices"),
		't': number("frames")}
	if err == nil {
		l.scaled, l.slope, l.inter, err = imagejCalibration(fields)
	}
	if err != nil {
		return err
	}
	if p.samples == lengths['c'] {
		lengths['c'] = 1 // within one page
	}
	planes := lengths['c'] * lengths['z'] * lengths['t'] // each is below 2^31, and checked:
	if fields["images"] == "" {
		images = planes
	}
	if planes == 1 {
		l.axes = []tiffAxis{{tiffDepthAxis, max(images, 1)}}
		if fields["images"] == "" {
			l.axes[0].length = pages
		}
		return nil
	}
	if planes != images || float64(lengths['c'])*float64(lengths['z'])*float64(lengths['t']) > math.MaxInt32 {
		return fmt.Errorf("ImageJ states %d images of %d channels, %d slices and %d frames; save it from ImageJ again",
			images, lengths['c'], lengths['z'], lengths['t'])
	}
	order := strings.ToLower(fields["order"])
	if order == "" || order == "default" {
		order = "czt"
	}
	for i := len(order) - 1; i >= 0; i-- {
		n, ok := lengths[order[i]]
		if !ok {
			break
		}
		l.axes = append(l.axes, tiffAxis{order[i] - 'a' + 'A', n})
		delete(lengths, order[i])
	}
	if len(lengths) > 0 || len(order) != 3 {
		return fmt.Errorf("ImageJ states order=%.20s; want one of c, z and t", order)
	}
	return nil
}

// imagejCalibration reads ImageJ's calibration of pixels: c0 + c1·pixel, or another function, which
// is an error. Functions 20 and 21 mean no calibration.
func imagejCalibration(fields map[string]string) (scaled bool, slope, inter float64, err error) {
	switch f := fields["cf"]; f {
	case "", "20", "21":
		return false, 0, 0, nil
	case "0":
	default:
		return false, 0, 0,
			fmt.Errorf("ImageJ calibrates its values by function %.20s; save it without calibration, or by a straight line", f)
	}
	inter, err0 := decimal.ParseFloat(fields["c0"], 64)
	slope, err1 := decimal.ParseFloat(fields["c1"], 64)
	if err0 != nil || err1 != nil || slope == 0 || math.IsInf(slope, 0) || math.IsInf(inter, 0) || slope != slope ||
		inter != inter {
		return false, 0, 0, fmt.Errorf("ImageJ calibrates its values by c0=%.20s and c1=%.20s; save it without calibration",
			fields["c0"], fields["c1"])
	}
	return slope != 1 || inter != 0, slope, inter, nil
}

// isShaped reports whether a description is by tifffile.
func isShaped(text string) bool {
	return strings.HasPrefix(text, `{"shape":`) || strings.HasPrefix(text, "shape=(")
}

// shaped reads tifffile's descriptions, one for each series of pages. Series of one plane are the
// slices of a volume, and longer series are volumes.
func (l *tiffLayout) shaped(pages []*tiffPage) error {
	series := int64(0)
	for at := int64(0); at < int64(len(pages)); series++ {
		p := pages[at]
		one := tiffLayout{axes: []tiffAxis{{tiffOtherAxis, p.depth}}, height: p.height, width: p.width, parts: 1}
		if isShaped(p.description) {
			if err := one.shapedAxes(p.description, p); err != nil {
				return err
			}
		}
		if series > 0 && (!slices.Equal(one.axes, l.axes) || !slices.Equal(one.order, l.order) ||
			one.height != l.height || one.width != l.width) {
			return fmt.Errorf("page %d begins a series of %s, and page 1 one of %s; save one image a file",
				p.index+1, one.text(), l.text())
		}
		if at += grid.CeilDiv(one.size(), p.depth*one.parts); at > int64(len(pages)) && series > 0 {
			return fmt.Errorf("its last series of %s is cut off; save one image a file", one.text())
		}
		*l = one
	}
	if series > 1 {
		l.axes = slices.Insert(l.axes, 0, tiffAxis{tiffSeriesAxis, series})
	}
	if l.order == nil { // else each axis of space has its name
		l.findDepth()
	}
	return nil
}

// findDepth makes the last axis of unknown meaning the depth axis, if there is no other one.
func (l *tiffLayout) findDepth() {
	for i := len(l.axes) - 1; i >= 0; i-- {
		if l.axes[i].kind == tiffDepthAxis && l.axes[i].length > 1 {
			return
		}
	}
	// An axis of length 1 is the depth only if there is no better one.
	for i := len(l.axes) - 1; i >= 0; i-- {
		if a := &l.axes[i]; (a.kind == tiffOtherAxis || a.kind == tiffSeriesAxis) && a.length > 1 {
			a.kind = tiffDepthAxis
			return
		}
	}
}

// parseShaped reads the shape in tifffile's description, and the letters of the axes, if any.
func parseShaped(text string) (shape []int64, axes string, err error) {
	if old, ok := strings.CutPrefix(text, "shape=("); ok {
		old, _, _ = strings.Cut(old, ")")
		text = `{"shape": [` + strings.TrimSuffix(strings.TrimSpace(old), ",") + "]}"
	}
	var fields map[string]json.RawMessage // a struct would take its names in any capitals
	err = cmp.Or(json.Unmarshal([]byte(text), &fields), json.Unmarshal(fields["shape"], &shape))
	if names, ok := fields["axes"]; ok && err == nil {
		err = json.Unmarshal(names, &axes)
	}
	if err != nil || len(shape) == 0 || axes != "" && len(axes) != len(shape) {
		return nil, "", fmt.Errorf("its description %.60q has no shape; save it again", text)
	}
	return shape, axes, nil
}

// shapedAxes reads the axes and the size of the planes in the series of a page.
func (l *tiffLayout) shapedAxes(text string, p *tiffPage) (err error) {
	shape, names, err := parseShaped(text)
	if err != nil {
		return err
	}
	bad := fmt.Errorf("its description states shape %v, and its pages are %s; save it again", shape, p.text())
	axes := make([]tiffAxis, 2, 2+len(shape)) // room before a shape of less than two axes
	axes[0], axes[1] = tiffAxis{tiffOtherAxis, 1}, tiffAxis{tiffOtherAxis, 1}
	for i, n := range shape {
		axis := tiffAxis{tiffOtherAxis, n}
		if names != "" {
			axis.kind = strings.ToUpper(names)[i]
		}
		if n < 1 || n > math.MaxInt32 {
			return bad
		}
		axes = append(axes, axis)
	}
	last := func(back int) int64 { return axes[max(0, len(axes)-back)].length }
	// The samples of pixels are a separate axis, which may be present even for one sample.
	named := names == "" || axes[len(axes)-1].kind == 'S'
	if last(1) == p.samples && (p.samples > 1 || named && last(2) == p.width && last(3) == p.height) {
		axes = axes[:len(axes)-1]
	} else if p.samples > 1 {
		return bad
	}
	for names != "" && len(axes) > 4 && last(1) == 1 && !axes[len(axes)-1].inPage() {
		axes = axes[:len(axes)-1]
	}
	// Pages are the last axes, except axes of length 1.
	page := longer([]tiffAxis{{'Y', p.height}, {'X', p.width}})
	if all := longer(axes); len(all) < len(page) || !slices.Equal(all[len(all)-len(page):], page) {
		return bad
	}
	l.height, l.width = last(2), last(1)
	l.parts = max(1, p.width*p.height/(l.height*l.width))
	if l.height*l.width*l.parts != p.width*p.height {
		return bad
	}
	letters := slices.Clone(axes)
	l.axes, err = planeAxes(axes[min(2, len(axes)-2):len(axes)-2], p.depth*l.parts)
	if err == nil && names != "" {
		l.order, err = tiffOrder(letters)
	}
	return err
}

// inPage reports whether an axis can be one of a page: it is of space, or of unknown meaning.
func (a tiffAxis) inPage() bool {
	return a.kind == tiffOtherAxis || a.kind == tiffSeriesAxis ||
		format.AxisKindOf(string(a.kind)) == format.SpaceAxis
}

// tiffOrder returns the order of the axes of space. Both axes of pages, the last ones, are of space,
// or of unknown meaning if no axis is of space.
func tiffOrder(axes []tiffAxis) ([]int64, error) {
	var space, page []format.Axis
	inPage := true
	for i, a := range axes {
		axis := format.Axis{Name: string(a.kind), Kind: format.AxisKindOf(string(a.kind)), Length: a.length}
		if axis.Kind == format.SpaceAxis && (a.length > 1 || i >= len(axes)-2) { // others have no effect
			space = append(space, axis)
		}
		if i >= len(axes)-2 && a.length > 1 {
			page = append(page, axis)
			inPage = inPage && a.inPage()
		}
	}
	unknown := slices.ContainsFunc(page, func(a format.Axis) bool { return a.Kind != format.SpaceAxis })
	if !inPage || unknown && len(space) > 0 {
		return nil, fmt.Errorf("its description states pages of axes %s; want axes of space, so save it with Y and X last",
			format.AxisNames(page))
	}
	return format.SpaceOrder(space)
}

// longer returns the lengths of axes without axes of length 1.
func longer(axes []tiffAxis) (lengths []int64) {
	for _, a := range axes {
		if a.length > 1 {
			lengths = append(lengths, a.length)
		}
	}
	return lengths
}

// planeAxes gives the space axis the letter of depth. There can be only one.
func planeAxes(axes []tiffAxis, planes int64) ([]tiffAxis, error) {
	deep, channels := 0, 0
	for i, a := range axes {
		switch a.kind {
		case 'X', 'Y', 'Z':
			axes[i].kind = tiffDepthAxis
			deep += min(1, int(a.length-1))
		case 'S', 'C':
			axes[i].kind = tiffChannelAxis
			channels++
		}
	}
	if deep > 1 || channels > 1 {
		return nil, fmt.Errorf("its description states axes of planes %s, of which one can be of depth and one of "+
			"channels; save one volume alone", tiffLayout{axes: axes}.text())
	}
	// Axes of length 1 have no effect. A letter appears once.
	axes = slices.DeleteFunc(axes, func(a tiffAxis) bool { return a.length == 1 && a.kind != tiffChannelAxis })
	if n := (tiffLayout{axes: axes}).size(); n%planes != 0 {
		return nil, fmt.Errorf("its description states %d planes, and its pages have %d each; save it again", n, planes)
	}
	return axes, nil
}

// An omeXML is the description of a file's planes in OME-XML.
type omeXML struct {
	UUID       string    `xml:",attr"`
	BinaryOnly *struct{} `xml:"BinaryOnly"`
	Images     []struct {
		Pixels struct {
			DimensionOrder string `xml:",attr"`
			SizeX          int64  `xml:",attr"`
			SizeY          int64  `xml:",attr"`
			SizeZ          int64  `xml:",attr"`
			SizeC          int64  `xml:",attr"`
			SizeT          int64  `xml:",attr"`
			Channels       []struct {
				Name    string `xml:",attr"`
				Samples int64  `xml:"SamplesPerPixel,attr"`
			} `xml:"Channel"`
			TiffData []omeData
		}
	} `xml:"Image"`
}

// An omeData assigns pages to consecutive planes in the order of dimensions.
type omeData struct {
	IFD        *int64 `xml:",attr"`
	PlaneCount *int64 `xml:",attr"`
	NumPlanes  *int64 `xml:",attr"` // the older name
	FirstZ     int64  `xml:",attr"`
	FirstC     int64  `xml:",attr"`
	FirstT     int64  `xml:",attr"`
	UUID       string
}

// ome reads OME-XML.
func (l *tiffLayout) ome(text string, pages []*tiffPage) error {
	var x omeXML
	if err := xml.NewDecoder(bytes.NewReader([]byte(text))).Decode(&x); err != nil {
		return errors.New("its OME-XML cannot be read; save it again")
	}
	switch {
	case x.BinaryOnly != nil:
		return errors.New("its OME-XML is in another file; convert it to one file first: bfconvert FILE image.ome.tif " +
			"(Bio-Formats)")
	case len(x.Images) != 1:
		return fmt.Errorf("its OME-XML describes %d images; save one image a file", len(x.Images))
	case strings.Contains(text, "<ModuloAlong"):
		return errors.New("its OME-XML divides an axis (ModuloAlong…), which is not read; save one volume a file")
	}
	p, first := x.Images[0].Pixels, pages[0]
	if p.SizeX != first.width || p.SizeY != first.height {
		return fmt.Errorf("its OME-XML states planes of %dx%d, and its pages are %s; save it again",
			p.SizeX, p.SizeY, first.text())
	}
	for _, c := range p.Channels {
		if c.Name != "" {
			l.channels = append(l.channels, c.Name)
		}
		if n := max(1, c.Samples); n != first.samples {
			return fmt.Errorf("its OME-XML states %d samples in each pixel, and its pages have %d; save it again",
				n, first.samples)
		}
	}
	sizes := map[byte]int64{'Z': p.SizeZ, 'C': p.SizeC / first.samples, 'T': p.SizeT}
	order, _ := strings.CutPrefix(p.DimensionOrder, "XY")
	for i := len(order) - 1; i >= 0; i-- {
		n := sizes[order[i]]
		if n < 1 || n > math.MaxInt32 {
			break
		}
		l.axes = append(l.axes, tiffAxis{order[i], n})
		delete(sizes, order[i])
	}
	if len(sizes) > 0 || len(order) != 3 || p.SizeC%first.samples != 0 {
		return fmt.Errorf("its OME-XML states SizeZ %d, SizeC %d and SizeT %d in the order %.20q; save it again",
			p.SizeZ, p.SizeC, p.SizeT, p.DimensionOrder)
	}
	if len(l.channels) != len(p.Channels) || int64(len(l.channels)) != p.SizeC/first.samples {
		l.channels = nil // some channels have no name
	}
	if have, want := int64(len(pages))*first.depth, l.size(); have != want {
		return fmt.Errorf("its OME-XML states %s, and the file has %d planes; save all planes in one file", l.text(), have)
	}
	return l.omePlanes(x.UUID, p.TiffData, pages)
}

// omePlanes finds the page of each plane.
func (l *tiffLayout) omePlanes(file string, data []omeData, pages []*tiffPage) error {
	if len(data) == 0 {
		return errors.New("its OME-XML names no page (TiffData); save it again")
	}
	place := map[int64]int64{} // index of a page among the pages of full resolution
	for i, p := range pages {
		place[p.index] = int64(i)
	}
	l.planes = make([]int64, l.size())
	taken := make([]bool, len(pages))
	found := make([]bool, len(l.planes))
	for _, d := range data {
		if file == "" {
			file = d.UUID
		}
		if d.UUID != "" && !strings.EqualFold(d.UUID, file) {
			return errors.New("its planes are in several files; convert it to one file first: bfconvert FILE image.ome.tif " +
				"(Bio-Formats)")
		}
		at, first := int64(0), map[byte]int64{'Z': d.FirstZ, 'C': d.FirstC, 'T': d.FirstT}
		for _, a := range l.axes {
			if n := first[a.kind]; n < 0 || n >= a.length {
				return fmt.Errorf("its OME-XML names plane %d of %c, of %d; save it again", n, a.kind, a.length)
			}
			at = at*a.length + first[a.kind]
		}
		ifd, count := int64(0), int64(len(pages))
		if d.IFD != nil {
			ifd, count = *d.IFD, 1
		}
		for _, n := range []*int64{d.NumPlanes, d.PlaneCount} {
			if n != nil {
				count = *n
			}
		}
		for i := range count {
			page, ok := place[ifd+i]
			if !ok || at+i >= int64(len(l.planes)) || found[at+i] || taken[page] {
				return fmt.Errorf("its OME-XML names page %d, which is missing, or a plane or a page twice; save it again", ifd+i+1)
			}
			l.planes[at+i], found[at+i], taken[page] = page, true, true
		}
	}
	if slices.Contains(found, false) {
		return errors.New("its OME-XML names no page for some planes; save all planes in one file")
	}
	return nil
}

// checkNoData returns an error if pixels have GDAL's value for missing data.
func checkNoData(data []byte, s element.Type, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	none, err := decimal.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("its no-data value %.20q is no number; save it without (gdal_edit.py -unsetnodata)", text)
	}
	const step = 1 << 16
	for at := 0; at < len(data); at += step {
		piece := data[at:min(len(data), at+step)]
		if s == element.Int8 { // as rescaled stores them
			wide := make([]int16, len(piece))
			for i, v := range piece {
				wide[i] = int16(int8(v))
			}
			piece = grid.Bytes(wide)
		}
		for i, v := range element.Rescaled(piece, s, 1, 0) {
			if v == none || s == element.Float32 && float32(v) == float32(none) {
				return fmt.Errorf("pixel %d has the no-data value %s, so it is no part of the image; fill it, or save it without "+
					"the value (gdal_edit.py -unsetnodata)", int64(at)/s.Size()+int64(i), text)
			}
		}
	}
	return nil
}
