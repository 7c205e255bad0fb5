//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/files"
	"eccbench/datasets/files/format"
	"eccbench/internal/headers"
)

// A volume of one slice is a volume in every format. z can be periodic, which makes every set a
// ring with χ 0; fields have a component along z; output files keep its axes.
func TestOneSlice(t *testing.T) {
	folder := t.TempDir()
	voxels := []byte{1, 0, 1, 0, 2, 0, 1, 0, 1, 3, 3, 3} // 4x3
	nii, err := headers.Nifti{Kind: "u1", Shape: []int64{4, 3, 1}}.Header()
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(folder, name) }
	if err := os.Mkdir(path("slices"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"a.npy": append(headers.Npy("u1", 1, 3, 4), voxels...), "a.raw": voxels, "a.nii": append(nii, voxels...),
		"flat.npy": append(headers.Npy("u1", 3, 4), voxels...), "slices/1.npy": append(headers.Npy("u1", 3, 4), voxels...),
	} {
		if err := os.WriteFile(path(name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := mustTell(t, "curve", "--no-header", "-q", path("flat.npy"))
	for what, input := range map[string][]string{
		"npy": {path("a.npy")}, "raw": {path("a.raw"), "--shape", "4x3x1", "--type", "uint8"}, "NIfTI": {path("a.nii")},
		"stack": {"--stack", path("slices")}, "standard": {path("a.npy"), "--impl", "cpu"}, "masked": {path("a.npy"), "--mask", path("flat.npy")},
	} {
		args := func(more ...string) []string { return append(more, input...) }
		if got := mustTell(t, args("curve", "--no-header", "-q")...); got != want && what != "masked" {
			t.Errorf("%s: a curve of %q, want %q", what, got, want)
		}
		for _, axes := range []string{"z", "x,z", "x,y,z"} {
			if got := mustTell(t, args("curve", "--no-header", "-q", "--periodic", axes)...); got != "" {
				t.Errorf("%s, periodic along %s: a curve of %q, want 0 everywhere", what, axes, got)
			}
		}
		if got := mustTell(t, args("curve", "-q", "--periodic", "z")...); !strings.Contains(got, " 4x3x1 ") {
			t.Errorf("%s: %q has another shape", what, got)
		}
		if what == "masked" || what == "standard" {
			continue
		}
		for _, c := range []struct {
			args []string
			want string
		}{{[]string{"gvf", "--steps", "1"}, "(3, 1, 3, 4)"}, {[]string{"eigenmap", "-k", "2"}, "(1, 3, 4)"}} {
			mustTell(t, append(args(c.args...), "-q", "-o", path("out.npy"))...)
			if data, err := os.ReadFile(path("out.npy")); err != nil || !bytes.Contains(data, []byte(c.want)) {
				t.Errorf("%s: %s writes %.100q, %v, want the shape %s", what, c.args[0], data, err, c.want)
			}
		}
	}
	for name, want := range map[string]string{"a.npy": "(1, 3, 4)", "flat.npy": "(3, 4)"} {
		mustTell(t, "assess", path(name), path(name), "-q", "--map", path("map.npy"))
		if data, err := os.ReadFile(path("map.npy")); err != nil || !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s: assess writes the map %.100q, %v, want the shape %s", name, data, err, want)
		}
	}
	for _, args := range [][]string{{"curve", path("flat.npy"), "--periodic", "z"}, {"curve", path("a.raw"), "--shape", "4x3", "--type", "uint8", "--periodic", "z"}} {
		if _, errs, code := told(args...); code != 64 || !strings.Contains(errs, "has no axis z") {
			t.Errorf("%q: exit code %d: %s", args, code, errs)
		}
	}
	if _, errs, code := told("curve", path("a.npy"), "--periodic", "z", "--shard", "1/2", "-o", folder+"/"); code != 64 || !strings.Contains(errs, "a volume of one slice") {
		t.Errorf("shards of one slice along z: exit code %d: %s", code, errs)
	}
}

// Masks, vectors, fields and maps have the position of the image.
func TestMaskLiesOnItsImage(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	want := format.Geometry{Affine: [3][4]float64{{0, -2, 0, 5}, {2, 0, 0, -7}, {0, 0, 3, 11}}}
	h, err := headers.Nifti{Kind: "u1", Shape: []int64{3, 2, 1}, Place: &headers.Place{Affine: want.Affine}}.Header()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("scan.nii"), append(h, 1, 2, 9, 1, 3, 8), 0o666); err != nil {
		t.Fatal(err)
	}
	mustTell(t, "eigenmap", "-k", "2", "-q", path("scan.nii"), "-o", path("mask.nii.gz"), "--vectors", path("vectors.nii"))
	lies := func(name string, want format.Geometry) {
		t.Helper()
		if got, err := files.GeometryOf(path(name), format.Options{}); err != nil || got == nil || *got != want {
			t.Errorf("%s lies at %v, %v, want %v", name, got, err, want)
		}
	}
	lies("mask.nii.gz", want)
	lies("vectors.nii", want)
	fields := []string{"field.nii", "field.nii.gz", "field.nrrd", "field.mha"}
	mustTell(t, "assess", "-q", path("scan.nii"), path("scan.nii"), "--map", path("map.nrrd"))
	lies("map.nrrd", want)
	flat := format.Geometry{Affine: [3][4]float64{{0, 3, 0, -5}, {-2, 0, 0, 7}, {0, 0, 1, 0}}, Flat: true}
	spaced := format.Geometry{Affine: [3][4]float64{{2}, {0, 3}, {0, 0, 1}}, Flat: true, Unplaced: true}
	const nrrd = "NRRD0005\ntype: uint8\ndimension: 2\nsizes: 3 2\nencoding: ascii\n"
	for name, c := range map[string]struct {
		file string
		want format.Geometry
	}{
		"scan.nii": {"", want},
		"flat.mha": {"NDims = 2\nDimSize = 3 2\nTransformMatrix = 0 1 -1 0\nOffset = 5 -7\nElementSpacing = 2 3\n" +
			"ElementType = MET_UCHAR\nElementDataFile = LOCAL\n\x01\x02\x09\x01\x03\x08", flat},
		"spaced.nrrd": {nrrd + "spacings: 2 3\n\n1 2 9 1 3 8\n", spaced},
		"tilted.nrrd": {nrrd + "space: RAS\nspace directions: (0,2,0) (0,0,4)\nspace origin: (1,2,3)\n\n1 2 9 1 3 8\n",
			format.Geometry{Affine: [3][4]float64{{0, 0, 1, 1}, {2, 0, 0, 2}, {0, 4, 0, 3}}}},
	} {
		if c.file != "" {
			if err := os.WriteFile(path(name), []byte(c.file), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		for _, field := range fields {
			mustTell(t, "gvf", "--steps", "1", "-q", path(name), "-o", path(field))
			want := c.want
			want.Flat = want.Flat && !strings.HasPrefix(field, "field.nii") // NIfTI vectors have three axes of space
			lies(field, want)
		}
	}
}
