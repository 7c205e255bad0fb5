package files

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/headers"
)

// TestGeometry reads one geometry from headers of three formats.
func TestGeometry(t *testing.T) {
	want := format.Geometry{Affine: [3][4]float64{{0, -2, 0, 10}, {0.5, 0, 0, -20}, {0, 0, 3, 30}}}
	nifti, err := headers.Nifti{Kind: "u1", Shape: []int64{2, 2, 2}, Place: &headers.Place{Affine: want.Affine}}.Header()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"a.nii": string(nifti) + "\x00\x00\x00\x00\x00\x00\x00\x00",
		"a.nrrd": "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: ascii\nspace: left-posterior-superior\n" +
			"space directions: (0,-0.5,0) (2,0,0) (0,0,3)\nspace origin: (-10,20,30)\n\n0 0 0 0 0 0 0 0\n",
		"a.mha": "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nTransformMatrix = 0 -1 0 1 0 0 0 0 1\nOffset = -10 20 30\n" +
			"ElementSpacing = 0.5 2 3\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n\x00\x00\x00\x00\x00\x00\x00\x00",
	}
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := GeometryOf(path, format.Options{})
		if err != nil || g == nil {
			t.Fatalf("%s: %v, %v", name, g, err)
		}
		if err := want.Differs(*g); err != nil {
			t.Errorf("%s: %v; want %v, got %v", name, err, want, *g)
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		io.WriteString(w, text)
		w.Close()
		for other, data := range map[string][]byte{"nameless": []byte(text), name + ".gz": packed.Bytes(), "packed": packed.Bytes()} {
			path := filepath.Join(folder, other)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if same, err := GeometryOf(path, format.Options{}); err != nil || same == nil || *same != *g {
				t.Errorf("%s as %s: %v, %v; want %v", name, other, same, err, *g)
			}
		}
		if s := g.Spacing(); math.Abs(s[0]-0.5)+math.Abs(s[1]-2)+math.Abs(s[2]-3) > 1e-6 {
			t.Errorf("%s: spacing %v", name, s)
		}
		moved := *g
		moved.Affine[1][3]++
		if want.Differs(moved) == nil {
			t.Errorf("%s: another origin is no difference", name)
		}
	}
	// A quaternion of half a turn about z.
	turned := append([]byte(nil), nifti...)
	copy(turned[252:256], []byte{1, 0, 0, 0})
	copy(turned[264:268], []byte{0, 0, 0x80, 0x3f})
	path := filepath.Join(folder, "q.nii")
	if err := os.WriteFile(path, turned, 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := GeometryOf(path, format.Options{})
	if err != nil || g == nil || g.Affine != [3][4]float64{{-0.5, 0, 0, 0}, {0, -2, 0, 0}, {0, 0, 3, 0}} {
		t.Errorf("a quaternion: %v, %v", g, err)
	}

	// Without codes its place is unknown: its spacings are compared, and no other number.
	copy(turned[252:256], []byte{0, 0, 0, 0})
	if err := os.WriteFile(path, turned, 0o600); err != nil {
		t.Fatal(err)
	}
	bare, err := GeometryOf(path, format.Options{})
	if err != nil || bare == nil || !bare.Unplaced || g.Unplaced {
		t.Fatalf("without codes: %v, %v; with one: %v", bare, err, g)
	}
	if err := errors.Join(bare.Differs(*g), g.Differs(*bare), bare.Differs(*bare)); err != nil {
		t.Errorf("without a place: %v", err)
	}
	longer := *bare
	longer.Affine[1][1] *= 1.01
	for _, err := range []error{bare.Differs(longer), longer.Differs(*g), g.Differs(longer)} {
		if err == nil || !strings.Contains(err.Error(), "spacings along y differ") {
			t.Errorf("other spacings: %v", err)
		}
	}
}

// TestGeometryOfOtherAxes reads the geometries of 2D images, of several volumes and of colours, as ITK writes them.
func TestGeometryOfOtherAxes(t *testing.T) {
	flat, oblique := &format.Geometry{Flat: true}, &format.Geometry{Flat: true}
	flat.Affine = [3][4]float64{{0, -2, 0, -5}, {-1, 0, 0, 7}, {0, 0, 1, 0}}
	oblique.Affine = [3][4]float64{{3, 0, 0, 0}, {0, 0.6, -0.8, 0}, {0, 0.8, 0.6, 9}}
	solid := &format.Geometry{Affine: [3][4]float64{{-1, 0, 0, -5}, {0, -2, 0, 7}, {0, 0, 3, 4}}}
	spaced := &format.Geometry{Affine: [3][4]float64{{1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 1, 0}}, Flat: true, Unplaced: true}
	deep := *spaced
	deep.Affine[2][2], deep.Flat = 4, false
	slice := &format.Geometry{Affine: [3][4]float64{{1, 0, 0, 3}, {0, 2, 0, 4}, {0, 0, 5, 6}}}
	const nrrd, space = "NRRD0004\ntype: uint8\nencoding: ascii\n", "space directions: (0,1) (2,0)\nspace origin: (5,-7)\n"
	const solidNrrd, axes = nrrd + "dimension: 3\nsizes: 2 2 1\n", "space directions: (%g,0,0) (0,%g,0) (0,0,%g)\nspace origin: (%g,%g,%g)\n"
	const meta, end = "ObjectType = Image\nElementType = MET_UCHAR\n", "ElementDataFile = LOCAL\n"
	for name, c := range map[string]struct {
		text string
		want *format.Geometry
	}{
		"flat.nrrd":    {nrrd + "dimension: 2\nsizes: 2 2\nspace dimension: 2\n" + space, flat},
		"flat.mha":     {meta + "NDims = 2\nDimSize = 2 2\nTransformMatrix = 0 1 1 0\nOffset = 5 -7\nElementSpacing = 1 2\n" + end, flat},
		"spaced.nrrd":  {nrrd + "dimension: 2\nsizes: 2 2\nspacings: 1 2\n", spaced},
		"rgb.nrrd":     {nrrd + "dimension: 3\nsizes: 3 2 2\nkinds: vector domain domain\nspacings: NaN 1 2\n", spaced},
		"pages.nrrd":   {nrrd + "dimension: 3\nsizes: 2 2 3\nkinds: domain domain list\nspacings: 1 2 5\n", spaced},
		"oblique.nrrd": {nrrd + "dimension: 2\nsizes: 2 2\nspace: RAS\nspace directions: (3,0,0) (0,0.6,0.8)\nspace origin: (0,0,9)\n", oblique},
		"series.nrrd": {nrrd + "dimension: 4\nsizes: 2 2 2 2\nkinds: domain domain domain domain\nspace dimension: 4\n" +
			"space directions: (1,0,0,0) (0,2,0,0) (0,0,3,0) (0,0,0,9)\nspace origin: (5,-7,4,1)\n", solid},
		"series.mha":  {meta + "NDims = 4\nDimSize = 2 2 2 2\nOffset = 5 -7 4 1\nElementSpacing = 1 2 3 9\n" + end, solid},
		"spaces.nrrd": {nrrd + "dimension: 2\nsizes: 2 2\nspace dimension: 2\nspacings: 1 2\n", spaced},
		"deep.nrrd":   {solidNrrd + "space: RAS\nspacings: 1 -2 4\n", &deep},
		"bare.mha":    {meta + "NDims = 3\nDimSize = 2 2 1\nElementSpacing = 1 2 4\n" + end, &deep},
		"LPST.nrrd": {nrrd + "dimension: 4\nsizes: 2 2 2 2\nkinds: space space space time\nspace: LPST\n" +
			"space directions: (1,0,0,0) (0,2,0,0) (0,0,3,0) (0,0,0,9)\nspace origin: (5,-7,4,1)\n", solid},
		"LPS.nrrd":  {solidNrrd + "space: left-posterior-superior\n" + fmt.Sprintf(axes, -1., -2., 5., -3., -4., 6.), slice},
		"LAS.nrrd":  {solidNrrd + "space: LAS\n" + fmt.Sprintf(axes, -1., 2., 5., -3., 4., 6.), slice},
		"LAST.nrrd": {solidNrrd + "space: Left-Anterior-Superior-Time\n" + fmt.Sprintf(axes, -1., 2., 5., -3., 4., 6.), slice},
		"RAS.nrrd":  {solidNrrd + "space: right-anterior-superior\n" + fmt.Sprintf(axes, 1., 2., 5., 3., 4., 6.), slice},
		// Units of the rows of vectors, and of the axes.
		"um.nrrd": {solidNrrd + "space: RAS\nspace units: \"um\" \"µm\" \"microns\"\n" + fmt.Sprintf(axes, 1e3, 2e3, 5e3, 3e3, 4e3, 6e3), slice},
		"cm.nrrd": {solidNrrd + "space: RAS\nspace units: \"cm\" \"m\" \"mm\"\n" + fmt.Sprintf(axes, .1, .002, 5., .3, .004, 6.), slice},
		"colours.nrrd": {nrrd + "dimension: 3\nsizes: 3 2 2\nkinds: vector domain domain\nspacings: NaN 1e6 2000\n" +
			"units: \"\" \"nm\" \"micrometres\"\n", spaced},
		"colon.mha": {meta + "NDims = 3\nDimSize = 2 2 1\nComment: a = 1\nOffset: -3 -4 6\nTransformMatrix: -1 0 0 0 -1 0 0 0 1\n" +
			"ElementSpacing : 1 2 5\n" + end, slice},
		"um.mha": {meta + "NDims = 3\nDimSize = 2 2 1\nOffset = -3000 -4000 6000\nTransformMatrix = -1 0 0 0 -1 0 0 0 1\n" +
			"ElementSpacing = 1000 2000 5000\nDistanceUnits = um\n" + end, slice},
		"pixels.nrrd": {solidNrrd + "space: RAS\nspace units: \"mm\" \"mm\" \"pixel\"\n" + fmt.Sprintf(axes, 1., 2., 5., 3., 4., 6.), nil},
		"ms.nrrd":     {nrrd + "dimension: 2\nsizes: 2 2\nspacings: 1 2\nunits: \"mm\" \"ms\"\n", nil},
		// The spacing of an axis is unknown, or which of four axes are those of space.
		"gap.nrrd":  {nrrd + "dimension: 3\nsizes: 2 2 2\nspacings: 1 2 NaN\n", nil},
		"four.nrrd": {nrrd + "dimension: 4\nsizes: 2 2 2 2\nspacings: 1 2 3 4\n", nil},
		"none.nrrd": {nrrd + "dimension: 3\nsizes: 2 2 2\nspace dimension: 2\nspace directions: none (1,0) (0,2)\n", nil},
		"line.nrrd": {nrrd + "dimension: 2\nsizes: 2 2\nspace dimension: 2\nspace directions: (1,0) (2,0)\n", nil},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := GeometryOf(path, format.Options{})
		if err != nil || (g == nil) != (c.want == nil) {
			t.Errorf("%s: %v, %v; want %v", name, g, err, c.want)
		} else if g != nil {
			if err := c.want.Differs(*g); err != nil || g.Unplaced != c.want.Unplaced || g.Flat != c.want.Flat {
				t.Errorf("%s: %v; want %+v, got %+v", name, err, *c.want, *g)
			}
		}
	}
}

// TestGeometryOfPlanes compares 2D images with volumes of one slice, without the axis that they lack.
func TestGeometryOfPlanes(t *testing.T) {
	plane := format.NewGeometry([][]float64{{1, 0}, {0, 2}}, []float64{3, 4})
	higher := format.NewGeometry([][]float64{{1, 0, 0}, {0, 2, 0}}, []float64{3, 4, 9})
	spaced := format.NewGeometry([][]float64{{1, 0}, {0, 2}}, nil)
	spaced.Unplaced = true
	slice := format.NewGeometry([][]float64{{1, 0, 0}, {0, 2, 0}, {0, 0, 0.001}}, []float64{3, 4, 6})
	flatHeader, err := headers.Nifti{Kind: "u1", Shape: []int64{2, 2}, Place: &headers.Place{Affine: slice.Affine}}.Header()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "flat.nii")
	if err := os.WriteFile(path, flatHeader, 0o600); err != nil {
		t.Fatal(err)
	}
	nifti, err := GeometryOf(path, format.Options{})
	if err != nil || nifti == nil || !nifti.Flat {
		t.Fatalf("a 2D NIfTI file: %+v, %v", nifti, err)
	}
	for _, c := range []struct {
		one, two *format.Geometry
		want     string
	}{
		{plane, slice, ""}, {plane, higher, ""}, {plane, nifti, ""}, {spaced, slice, ""}, {spaced, plane, ""}, {nifti, slice, ""},
		{higher, slice, "row 3, column 4"}, {higher, nifti, "row 3, column 4"},
	} {
		for _, err := range []error{c.one.Differs(*c.two), c.two.Differs(*c.one)} {
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v and %+v: %v; want %q", *c.one, *c.two, err, c.want)
			}
		}
	}
	for r, c := range map[int]int{0: 3, 1: 1, 2: 0} {
		moved := *slice
		if moved.Affine[r][c]++; plane.Differs(moved) == nil || moved.Differs(*plane) == nil {
			t.Errorf("another number in row %d, column %d is no difference", r+1, c+1)
		}
	}
}
