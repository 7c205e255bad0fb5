package files

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// describedTiff returns a file of 5x4 pages with the tags of the first. Values count up from page
// to page.
func describedTiff(pages int64, description string) tiffText {
	x := tiffText{stored: element.Uint16, w: 5, h: 4, segH: 4, compression: tiffPlain, predictor: 1}
	for i := range pages {
		var page []float64
		for k := range int64(20) {
			page = append(page, float64(100*i+k))
		}
		x.pages = append(x.pages, page)
	}
	x.tags = []map[uint16][]uint64{{tiffDescription: asciiTag(description)}}
	return x
}

// planesOf returns the values of an image of planes of describedTiff.
func planesOf(planes ...int64) func(int64) float64 {
	return func(i int64) float64 { return float64(100*planes[i/20] + i%20) }
}

func omeText(order string, z, c, t int, rest string) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:uuid:1"><Image ID="Image:0"><Pixels DimensionOrder=%q Type="uint16" SizeX="5" SizeY="4" SizeZ="%d" SizeC="%d" SizeT="%d">%s</Pixels></Image></OME>`, order, z, c, t, rest)
}

// Axes of descriptions are slices, channels and volumes, in any order.
func TestTiffAxes(t *testing.T) {
	const names = `<Channel Name="DAPI" SamplesPerPixel="1"/><Channel Name="GFP"/>`
	for _, c := range []struct {
		description string
		pages       int64
		volume      int64 // or -1
		channel     string
		planes      []int64
	}{
		{"", 3, -1, "", []int64{0, 1, 2}},
		{"ImageJ=1.53t\nimages=3\nslices=3", 3, -1, "", []int64{0, 1, 2}},
		{"ImageJ=1.53t\nimages=3", 3, -1, "", []int64{0, 1, 2}},
		{"ImageJ=1.53t\nslices=3\n", 3, 0, "", []int64{0, 1, 2}},
		{"ImageJ=1.11a\nimages=6\nchannels=2\nslices=3\nhyperstack=true", 6, 0, "", []int64{0, 2, 4}},
		{"ImageJ=1.11a\nimages=6\nchannels=2\nslices=3\nhyperstack=true", 6, 1, "", []int64{1, 3, 5}},
		{"ImageJ=1.11a\nimages=6\nchannels=2\nslices=3\nhyperstack=true", 6, -1, "1", []int64{1, 3, 5}},
		{"ImageJ=1.11a\nimages=6\nchannels=2\nslices=3\norder=zct", 6, 1, "", []int64{3, 4, 5}},
		{"ImageJ=1.11a\nimages=12\nchannels=2\nslices=3\nframes=2", 12, 3, "", []int64{7, 9, 11}},
		{"ImageJ=1.11a\nimages=12\nchannels=2\nslices=3\nframes=2", 12, 1, "0", []int64{6, 8, 10}},
		{"ImageJ=1.53t\nimages=3\nframes=3", 3, 2, "", []int64{2}},
		{"ImageJ=1.53t\nimages=3\nchannels=3", 3, -1, "2", []int64{2}},
		{`{"shape": [3, 4, 5]}`, 3, -1, "", []int64{0, 1, 2}},
		{`{"shape": [2, 3, 4, 5]}`, 6, 1, "", []int64{3, 4, 5}},
		{"shape=(2, 3, 4, 5)", 6, 1, "", []int64{3, 4, 5}},
		{`{"shape": [1, 3, 1, 4, 5, 1]}`, 3, -1, "", []int64{0, 1, 2}},
		{`{"shape": [3, 4, 5], "axes": "TYX"}`, 3, 1, "", []int64{1}},
		{`{"shape": [3, 4, 5], "axes": "QYX"}`, 3, -1, "", []int64{0, 1, 2}},
		{`{"shape": [3, 4, 5], "aXes": "TYX"}`, 3, -1, "", []int64{0, 1, 2}},
		{`{"shape": [3, 2, 4, 5], "axes": "ZCYX"}`, 6, -1, "1", []int64{1, 3, 5}},
		{`{"shape": [3, 2, 4, 5], "axes": "QTYX"}`, 6, 1, "", []int64{1, 3, 5}},
		{`{"shape": [1, 1, 4, 5], "axes": "CZYX"}`, 1, 0, "0", []int64{0}},
		{omeText("XYZCT", 3, 2, 1, `<TiffData/>`), 6, 1, "", []int64{3, 4, 5}},
		{omeText("XYCZT", 3, 2, 1, `<TiffData IFD="0" PlaneCount="6"/>`), 6, 1, "", []int64{1, 3, 5}},
		{omeText("XYCZT", 3, 2, 1, names+`<TiffData IFD="0" NumPlanes="6"/>`), 6, -1, "GFP", []int64{1, 3, 5}},
		{omeText("XYTZC", 1, 2, 3, names+`<TiffData/>`), 6, 2, "DAPI", []int64{2}},
		{omeText("XYZCT", 2, 1, 1, `<TiffData FirstZ="1" IFD="0"/><TiffData FirstZ="0" IFD="1"><UUID FileName="x.tif">urn:uuid:1</UUID></TiffData>`), 2, -1, "", []int64{1, 0}},
	} {
		o := format.Options{Channel: c.channel}
		if c.volume >= 0 {
			o.Volume = &c.volume
		}
		got, err := openFileBytes("image.tif", writeTiff(describedTiff(c.pages, c.description)), o)
		if err != nil {
			t.Errorf("%s: %v", c.description, err)
			continue
		}
		checkFileImage(t, got, fileShapeText([]int64{int64(len(c.planes)), 4, 5}), grid.Uint16, planesOf(c.planes...))
	}
}

// Volumes and channels are never merged into one volume, and descriptions must agree with the
// pages.
func TestTiffAxesRefused(t *testing.T) {
	const stack = "ImageJ=1.53t\nimages=6\nchannels=2\nslices=3"
	for _, c := range []struct {
		description string
		pages       int64
		o           format.Options
		want        string
	}{
		{stack, 6, format.Options{}, "axes T 1, Z 3, C 2: 2 volumes of 5x4x3; choose one of 0..1: --volume of the command, or the input file/volume=N/path=FILE"},
		{stack, 6, format.Options{Channel: "2"}, "there is no channel \"2\"; want 0..1"},
		{stack + "\nframes=0", 6, format.Options{}, "ImageJ states frames=0"},
		{stack + "\nframes=2", 6, format.Options{}, "ImageJ states 6 images of 2 channels, 3 slices and 2 frames"},
		{stack + "\norder=cz", 6, format.Options{}, "ImageJ states order=cz; want"},
		{stack + "\norder=ccz", 6, format.Options{}, "ImageJ states order=ccz; want"},
		{stack, 5, format.Options{}, "its description states T 1, Z 3, C 2, and the file has 5 planes"},
		{"ImageJ=1.53t\nimages=2\nframes=2", 2, format.Options{}, "2 volumes of 5x4; choose one"},
		{"ImageJ=1.53t\ncf=3", 1, format.Options{}, "ImageJ calibrates its values by function 3"},
		{"ImageJ=1.53t\ncf=0\nc0=1", 1, format.Options{}, "ImageJ calibrates its values by c0=1 and c1="},
		{`{"shape": [2, 3, 4, 5]}`, 6, format.Options{}, "2 volumes of 5x4x3; choose one of 0..1"},
		{`{"shape": [2, 3, 4, 5]}`, 6, format.Options{Channel: "0"}, "its description names no axis of channels"},
		{`{"shape": [2, 2, 4, 5], "axes": "ZZYX"}`, 4, format.Options{}, "axes of planes Z 2, Z 2, of which one can be of depth"},
		{`{"shape": [2, 4, 5], "axes": "YX"}`, 2, format.Options{}, "has no shape"},
		{`{"shape": "x"}`, 1, format.Options{}, "has no shape"},
		{`{"shape": [2, 5, 4]}`, 2, format.Options{}, "its description states shape [2 5 4], and its pages are 5x4 uint16"},
		{`{"shape": [0, 4, 5]}`, 1, format.Options{}, "its description states shape [0 4 5]"},
		{`{"shape": [3, 4, 5]}`, 2, format.Options{}, "its description states Z 3, and the file has 2 planes"},
		{`{"shape": [2, 4, 5]}`, 3, format.Options{}, "page 3 begins a series"},
		{omeText("XYZCT", 3, 2, 1, `<TiffData/>`), 6, format.Options{}, "axes T 1, C 2, Z 3: 2 volumes of 5x4x3"},
		{omeText("XYZCT", 3, 2, 1, `<Channel Name="a"/><Channel Name="b"/><TiffData/>`), 6, format.Options{}, `2 channels; choose one: --channel of the command, or the input file/channel=NAME/path=FILE: "a", "b"`},
		{omeText("XYZCT", 3, 2, 1, `<TiffData/>`), 5, format.Options{}, "states T 1, C 2, Z 3, and the file has 5 planes"},
		{omeText("XYZC", 3, 2, 1, `<TiffData/>`), 6, format.Options{}, "in the order \"XYZC\""},
		{omeText("XYZCT", 2, 1, 1, ``), 2, format.Options{}, "names no page (TiffData)"},
		{omeText("XYZCT", 2, 1, 1, `<TiffData IFD="0"/>`), 2, format.Options{}, "names no page for some planes"},
		{omeText("XYZCT", 2, 1, 1, `<TiffData IFD="0"/><TiffData IFD="0" FirstZ="1"/>`), 2, format.Options{}, "a plane or a page twice"},
		{omeText("XYZCT", 2, 1, 1, `<TiffData IFD="7"/>`), 2, format.Options{}, "names page 8, which is missing"},
		{omeText("XYZCT", 2, 1, 1, `<TiffData IFD="0" FirstZ="2"/>`), 2, format.Options{}, "names plane 2 of Z, of 2"},
		{omeText("XYZCT", 1, 1, 1, `<TiffData><UUID>urn:uuid:2</UUID></TiffData>`), 1, format.Options{}, "its planes are in several files"},
		{omeText("XYZCT", 1, 1, 1, `<Channel SamplesPerPixel="3"/><TiffData/>`), 1, format.Options{}, "states 3 samples in each pixel, and its pages have 1"},
		{strings.Replace(omeText("XYZCT", 1, 1, 1, `<TiffData/>`), `SizeX="5"`, `SizeX="4"`, 1), 1, format.Options{}, "states planes of 4x4"},
		{strings.Replace(omeText("XYZCT", 1, 1, 1, `<TiffData/>`), `</Image>`, `</Image><Image/>`, 1), 1, format.Options{}, "describes 2 images"},
		{omeText("XYZCT", 1, 1, 1, `<TiffData/><ModuloAlongZ/>`), 1, format.Options{}, "ModuloAlong"},
		{"<OME><BinaryOnly/></OME>", 1, format.Options{}, "its OME-XML is in another file"},
		{"<OME></OM></OME>", 1, format.Options{}, "its OME-XML cannot be read"},
		{"", 2, format.Options{Channel: "0"}, "no axis of channels"},
		{"scanimage.SI.x = 1", 2, format.Options{}, "pages of ScanImage"},
	} {
		x := describedTiff(c.pages, c.description)
		checkRefusedCheaply(t, "image.tif", writeTiff(x), c.o, c.want)
		checkAnyFile(t, "image.tif", writeTiff(x))
	}
	for tag, want := range map[uint16]string{33629: "a MetaMorph stack", 34412: "pages of Zeiss LSM"} {
		x := describedTiff(2, "")
		x.tags[0] = map[uint16][]uint64{tag: {1}}
		checkRefusedCheaply(t, "image.tif", writeTiff(x), format.Options{}, want)
	}
}

// Axes of space are read as z, y, x, whatever their order in the file is. Pages are of two of them.
func TestTiffOrder(t *testing.T) {
	for _, c := range []struct {
		text   string
		pages  int64
		volume int64
		want   string
		first  int64
		steps  [3]int64 // along x, y, z
	}{
		{`"shape": [3, 4, 5], "axes": "ZYX"`, 3, 0, "5x4x3", 0, [3]int64{1, 5, 100}},
		{`"shape": [3, 4, 5], "axes": "XYZ"`, 3, 0, "3x4x5", 0, [3]int64{100, 5, 1}},
		{`"shape": [3, 4, 5], "axes": "YXZ"`, 3, 0, "4x3x5", 0, [3]int64{5, 100, 1}},
		{`"shape": [3, 4, 5], "axes": "ZXY"`, 3, 0, "4x5x3", 0, [3]int64{5, 1, 100}},
		{`"shape": [3, 4, 5], "axes": "CXY"`, 3, 2, "4x5", 200, [3]int64{5, 1, 0}},
		{`"shape": [3, 4, 5], "axes": "QXY"`, 3, 2, "4x5", 200, [3]int64{5, 1, 0}},
		{`"shape": [2, 3, 4, 5], "axes": "TXYZ"`, 6, 1, "3x4x5", 300, [3]int64{100, 5, 1}},
		{`"shape": [3, 2, 4, 5], "axes": "XTYZ"`, 6, 1, "3x4x5", 100, [3]int64{200, 5, 1}},
		{`"shape": [4, 5], "axes": "YX"`, 1, 0, "5x4", 0, [3]int64{1, 5, 0}},
		{`"shape": [1, 4, 5], "axes": "XYZ"`, 1, 0, "4x5", 0, [3]int64{5, 1, 0}},
		{`"shape": [4, 5, 1], "axes": "YXC"`, 1, 0, "5x4", 0, [3]int64{1, 5, 0}},
		{`"shape": [3, 4, 5], "axes": "TQQ"`, 3, 2, "5x4", 200, [3]int64{1, 5, 0}},
	} {
		got, err := openFileBytes("image.tif", writeTiff(describedTiff(c.pages, "{"+c.text+"}")), format.Options{Volume: &c.volume})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		w, h := got.Shape().W, got.Shape().H
		checkFileImage(t, got, c.want, grid.Uint16, func(i int64) float64 {
			return float64(c.first + i%w*c.steps[0] + i/w%h*c.steps[1] + i/w/h*c.steps[2])
		})
	}
	for axes, want := range map[string]string{
		"YXC": `pages of axes "X", "C"`, "YXT": `pages of axes "X", "T"`, "ZCX": `pages of axes "C", "X"`,
		"TQX": `pages of axes "Q", "X"`, "TCQ": `pages of axes "C", "Q"`, "ZQQ": `pages of axes "Q", "Q"`, "YYX": "want z, y, x, each once",
	} {
		text := fmt.Sprintf(`{"shape": [3, 4, 5], "axes": %q}`, axes)
		checkRefusedCheaply(t, "image.tif", writeTiff(describedTiff(3, text)), format.Options{}, want)
	}
}

// ImageJ's linear calibration scales values, such as signed integers.
func TestTiffCalibrated(t *testing.T) {
	x := describedTiff(1, "ImageJ=1.53t\ncf=0\nc0=-32768.0\nc1=1.0")
	checkFileImage(t, mustOpen(t, "image.tif", writeTiff(x)), "5x4", grid.Float32, func(i int64) float64 { return float64(i - 32768) })
	x = describedTiff(1, "ImageJ=1.53t\ncf=0\nc0=0\nc1=1")
	checkFileImage(t, mustOpen(t, "image.tif", writeTiff(x)), "5x4", grid.Uint16, planesOf(0))
}

// Series of one plane are slices; longer series are volumes.
func TestTiffSeries(t *testing.T) {
	x := describedTiff(4, "")
	one := map[uint16][]uint64{tiffDescription: asciiTag(`{"shape": [4, 5]}`)}
	x.tags = []map[uint16][]uint64{one, one, one, one}
	checkFileImage(t, mustOpen(t, "image.tif", writeTiff(x)), "5x4x4", grid.Uint16, planesOf(0, 1, 2, 3))
	two := map[uint16][]uint64{tiffDescription: asciiTag(`{"shape": [2, 4, 5]}`)}
	x.tags = []map[uint16][]uint64{two, nil, two, nil}
	volume := int64(1)
	got, err := openFileBytes("image.tif", writeTiff(x), format.Options{Volume: &volume})
	if err != nil {
		t.Fatal(err)
	}
	checkFileImage(t, got, "5x4x2", grid.Uint16, planesOf(2, 3))
}

// The shape of a description is used even if its last axis has length 1, as tifffile writes it.
func TestTiffReshaped(t *testing.T) {
	for _, c := range []struct {
		description string
		pages       int64
		volume      int64
		shape       string
		first       int64 // value
	}{
		{`{"shape": [2, 4, 5, 1], "axes": "CTYX"}`, 2, 6, "1x5", 110},
		{`{"shape": [2, 4, 5, 1], "axes": "CZYX"}`, 2, 1, "1x5x4", 100},
		{`{"shape": [2, 4, 5, 1], "axes": "ZYXS"}`, 2, 0, "5x4x2", 0},
		{`{"shape": [2, 4, 5, 1]}`, 2, 0, "5x4x2", 0},
	} {
		for _, tile := range []int64{0, 2} { // of strips, and of tiles smaller than a page
			x := describedTiff(c.pages, c.description)
			x.segW, x.segH = tile, cmp.Or(tile, x.segH)
			got, err := openFileBytes("image.tif", writeTiff(x), format.Options{Volume: &c.volume})
			if err != nil {
				t.Errorf("%s: %v", c.description, err)
				continue
			}
			value := func(i int64) float64 { return float64(100*(i/20) + c.first + i%20) }
			checkFileImage(t, got, c.shape, grid.Uint16, value)
		}
	}
}

// One directory describes all planes if they are contiguous.
func TestTiffContiguous(t *testing.T) {
	for _, c := range []struct {
		description string
		count       uint64
		planes      []int64
	}{
		{"ImageJ=1.53t\nimages=3\nslices=3", 3, []int64{0, 1, 2}},
		{"ImageJ=1.53t\nimages=4\nslices=2\nchannels=2", 4, []int64{1, 3}},
		{`{"shape": [3, 4, 5], "truncated": true}`, 3, []int64{0, 1, 2}},
		{`{"shape": [2, 2, 4, 5], "truncated": true}`, 4, []int64{2, 3}},
	} {
		x := describedTiff(1, c.description)
		x.segH = 3
		data := writeTiff(x)
		at := uint64(len(data))
		for i := range int64(4) {
			for k := range int64(20) {
				data = appendElement(data, x.stored, byteOrders()[false], float64(100*i+k))
			}
		}
		x.tags[0][tiffStripOffsets] = []uint64{at, at + 30}
		copy(data, writeTiff(x)) // of the same size
		var o format.Options
		if len(c.planes) == 2 {
			volume := int64(1)
			o.Volume = &volume
		}
		got, err := openFileBytes("image.tif", data, o)
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, got, fileShapeText([]int64{int64(len(c.planes)), 4, 5}), grid.Uint16, planesOf(c.planes...))
		checkRefusedCheaply(t, "short.tif", data[:at+40*c.count-1], o, "its description states ")
		x.tags[0][tiffStripOffsets] = []uint64{at, at + 32}
		apart := slices.Clone(data)
		copy(apart, writeTiff(x))
		checkRefusedCheaply(t, "apart.tif", apart, o, "its description states ")
	}
}

// Images of lower resolution are skipped; masks and pages of several kinds are no slices.
func TestTiffSubfiles(t *testing.T) {
	kind := func(v uint64) map[uint16][]uint64 { return map[uint16][]uint64{tiffSubfileType: {v}} }
	old := func(v uint64) map[uint16][]uint64 { return map[uint16][]uint64{tiffOldSubfileType: {v}} }
	for _, c := range []struct {
		tags   []map[uint16][]uint64
		planes []int64
		want   string
	}{
		{[]map[uint16][]uint64{kind(0), kind(1)}, []int64{0}, ""},
		{[]map[uint16][]uint64{kind(1), kind(0), kind(5), nil}, []int64{1, 3}, ""},
		{[]map[uint16][]uint64{nil, {tiffSubfileType: {1}, tiffWidth: {2}}}, []int64{0}, ""},
		{[]map[uint16][]uint64{old(1), old(2)}, []int64{0}, ""},
		{[]map[uint16][]uint64{kind(2), kind(2)}, []int64{0, 1}, ""},
		{[]map[uint16][]uint64{old(3), kind(2)}, []int64{0, 1}, ""},
		{[]map[uint16][]uint64{nil, kind(2)}, nil, "page 2: subfile type 2 differs from that of page 1, which is 0"},
		{[]map[uint16][]uint64{nil, kind(4)}, nil, "page 2: subfile type 4, a mask"},
		{[]map[uint16][]uint64{kind(1)}, nil, "all pages are reduced images"},
		{[]map[uint16][]uint64{{tiffPageNumber: {1}}, {tiffPageNumber: {0}}}, nil, "page 2 has number 0 and follows number 1"},
	} {
		x := describedTiff(int64(len(c.tags)), "")
		x.tags = c.tags
		if c.want != "" {
			checkRefusedCheaply(t, "image.tif", writeTiff(x), format.Options{}, c.want)
			continue
		}
		checkFileImage(t, mustOpen(t, "image.tif", writeTiff(x)), fileShapeText([]int64{int64(len(c.planes)), 4, 5}), grid.Uint16, planesOf(c.planes...))
	}
}

// A subdirectory is an image of lower resolution, which is skipped, or an error.
func TestTiffSubDirectories(t *testing.T) {
	for _, c := range []struct {
		below map[uint16][]uint64
		want  string
	}{
		{map[uint16][]uint64{tiffWidth: {2}}, ""},
		{map[uint16][]uint64{tiffSubfileType: {1}}, ""},
		{nil, "page 1: an image of 5x4 in a subdirectory"},
		{map[uint16][]uint64{tiffWidth: {9}, tiffHeight: {1}}, "page 1: an image of 9x1 in a subdirectory"},
	} {
		below := describedTiff(1, "")
		below.tags = []map[uint16][]uint64{c.below}
		x := describedTiff(1, "")
		x.tags = []map[uint16][]uint64{{tiffSubDirectories: {1}}}
		data := writeTiff(x)
		// A file after the first one, with offsets from the start of both.
		shift := uint64(len(data))
		other := writeTiff(below)
		x.tags[0][tiffSubDirectories] = []uint64{shift + uint64(byteOrders()[false].(interface{ Uint32([]byte) uint32 }).Uint32(other[4:]))}
		data = append(writeTiff(x), other...)
		if c.want != "" {
			// The lists of the second directory are elsewhere, except lists of one value.
			checkRefusedCheaply(t, "image.tif", data, format.Options{}, c.want)
			continue
		}
		checkFileImage(t, mustOpen(t, "image.tif", data), "5x4", grid.Uint16, planesOf(0))
	}
}

// Pages have depth, in tiles of planes or in strips.
func TestTiffDepth(t *testing.T) {
	for _, c := range []struct{ segW, segH, segD int64 }{{16, 16, 16}, {3, 2, 2}, {5, 4, 1}, {5, 4, 3}, {0, 4, 0}, {0, 3, 0}} {
		for _, compression := range []uint64{tiffPlain, tiffDeflate, tiffPackBits} {
			x := describedTiff(3, "")
			x.d, x.segD, x.segW, x.segH, x.compression = 3, c.segD, c.segW, c.segH, compression
			x.pages, x.tags = [][]float64{slices.Concat(x.pages...)}, nil
			data := writeTiff(x)
			checkFileImage(t, mustOpen(t, "image.tif", data), "5x4x3", grid.Uint16, planesOf(0, 1, 2))
			x.tags = []map[uint16][]uint64{{tiffDescription: asciiTag(`{"shape": [3, 4, 5], "axes": "TYX"}`)}}
			volume := int64(2)
			got, err := openFileBytes("image.tif", writeTiff(x), format.Options{Volume: &volume})
			if err != nil {
				t.Fatal(err)
			}
			checkFileImage(t, got, "5x4", grid.Uint16, planesOf(2))
			x.pages, x.tags = append(x.pages, x.pages[0]), nil
			checkRefusedCheaply(t, "image.tif", writeTiff(x), format.Options{}, "2 volumes of 5x4x3; choose one of 0..1")
		}
	}
}

// Bits are 0 and 1. So are the bits of tifffile's masks, whose tag declares white as zero.
func TestTiffBits(t *testing.T) {
	bit := func(i int64) float64 { return float64(i * i / 3 % 2) }
	for _, c := range []struct {
		tags map[uint16][]uint64
		want string
	}{
		{nil, ""},
		{map[uint16][]uint64{tiffPhotometric: {0}, tiffSoftware: asciiTag("tifffile.py")}, ""},
		{map[uint16][]uint64{tiffPhotometric: {0}}, "white is zero"},
		{map[uint16][]uint64{tiffPredictor: {2}}, "predictor 2 of bits"},
	} {
		for _, compression := range []uint64{tiffPlain, tiffDeflate, tiffPackBits} {
			for _, segW := range []int64{0, 16} {
				x := tiffText{stored: element.Uint8, bits: true, w: 19, h: 7, segW: segW, segH: 3, compression: compression, predictor: 1}
				x.pages = make([][]float64, 1)
				for i := range int64(19 * 7) {
					x.pages[0] = append(x.pages[0], bit(i))
				}
				x.tags = []map[uint16][]uint64{c.tags}
				if c.want != "" {
					checkRefusedCheaply(t, "image.tif", writeTiff(x), format.Options{}, c.want)
				} else {
					checkFileImage(t, mustOpen(t, "image.tif", writeTiff(x)), "19x7", grid.Uint8, bit)
				}
			}
		}
	}
	// The description of the first page applies to all.
	masks := tiffText{stored: element.Uint8, bits: true, w: 4, h: 1, segH: 1, compression: tiffPlain, predictor: 1}
	masks.pages = [][]float64{{1, 0, 0, 1}, {0, 1, 0, 1}}
	white := map[uint16][]uint64{tiffPhotometric: {0}, tiffSoftware: nil}
	masks.tags = []map[uint16][]uint64{{tiffPhotometric: {0}, tiffDescription: asciiTag(`{"shape": [2, 1, 4]}`)}, white}
	checkFileImage(t, mustOpen(t, "image.tif", writeTiff(masks)), "4x1x2", grid.Uint8, func(i int64) float64 { return masks.pages[i/4][i%4] })
	masks.tags[0] = white
	checkRefusedCheaply(t, "image.tif", writeTiff(masks), format.Options{}, "white is zero")
	// The lowest bit first.
	x := tiffText{stored: element.Uint8, bits: true, w: 8, h: 1, segH: 1, compression: tiffPlain, predictor: 1}
	x.pages = [][]float64{{1, 1, 0, 1, 0, 0, 0, 0}}
	x.edit = map[uint16][]uint64{tiffFillOrder: {2}}
	checkFileImage(t, mustOpen(t, "image.tif", writeTiff(x)), "8x1", grid.Uint8, func(i int64) float64 { return x.pages[0][7-i] })
}

// A pixel with GDAL's no-data value is an error.
func TestTiffNoData(t *testing.T) {
	for _, c := range []struct {
		stored element.Type
		value  string
		want   string
	}{
		{element.Uint16, "3", "pixel 3 has the no-data value 3"},
		{element.Uint16, "-9999", ""},
		{element.Uint16, "2.5", ""},
		{element.Uint16, "none", "its no-data value \"none\" is no number"},
		{element.Uint16, "nan", ""},
		{element.Int8, "17", "pixel 17 has the no-data value 17"},
		{element.Float32, "0.75", ""},
		{element.Float32, "7.00000000001", "pixel 7 has"},
	} {
		x := describedTiff(1, "")
		x.stored, x.tags = c.stored, []map[uint16][]uint64{{tiffNoData: asciiTag(c.value)}}
		if c.want != "" {
			checkRefusedCheaply(t, "image.tif", writeTiff(x), format.Options{}, c.want)
		} else if _, err := openFileBytes("image.tif", writeTiff(x), format.Options{}); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}
