package gvf

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// Each format ends with the numbers, in its order, and says before them how many there are.
func TestFiles(t *testing.T) {
	solid, flat := grid.Shape{D: 2, H: 1, W: 3}, grid.Shape{D: 1, H: 2, W: 3}
	three := Flow{[][]float32{{1, 2, 3, 4, 5, 6}, {-1, -2, -3, -4, -5, -6}, {10, 20, 30, 40, 50, 60}}}
	two := Flow{three.V[:2]}
	for _, c := range []struct {
		extension string
		s         grid.Shape
		f         Flow
		header    string
		side      bool
	}{
		{".npy", solid, three, "'shape': (3, 2, 1, 3), ", false}, {".npy", flat, two, "'shape': (2, 2, 3), ", false},
		{".nii", solid, three, "\x05\x00\x03\x00\x01\x00\x02\x00\x01\x00\x03\x00", false}, {".nii.gz", flat, two, "\x05\x00\x03\x00\x02\x00\x01\x00\x01\x00\x02\x00", false},
		{".nrrd", solid, three, "# a note\ntype: float\ndimension: 4\nsizes: 3 1 2 3\n", false}, {".nrrd", flat, two, "dimension: 3\nsizes: 3 2 2\nkinds: domain domain vector\n", false},
		{".mha", solid, three, "NDims = 3\n", true}, {".mha", flat, two, "DimSize = 3 2\nElementNumberOfChannels = 2\n", true},
	} {
		var b bytes.Buffer
		if err := Write(&b, c.extension, c.s, c.f, "a note"); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		if c.extension == ".nii.gz" {
			z, err := gzip.NewReader(&b)
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		n := 6 * len(c.f.V)
		header, rest := data[:len(data)-4*n], data[len(data)-4*n:]
		if !bytes.Contains(header, []byte(c.header)) {
			t.Errorf("%s of %v: header %q, want %q in it", c.extension, c.s, header, c.header)
		}
		if c.extension == ".npy" && len(header)%64 != 0 || strings.HasPrefix(c.extension, ".nii") && len(header) != 352 {
			t.Errorf("%s of %v: a header of %d bytes", c.extension, c.s, len(header))
		}
		var want, got []float32
		for i := range n {
			component, at := i/6, i%6
			if c.side {
				component, at = i%len(c.f.V), i/len(c.f.V)
			}
			want = append(want, c.f.V[component][at])
			got = append(got, math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:])))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s of %v: %v, want %v", c.extension, c.s, got, want)
		}
	}
	if err := Write(io.Discard, ".nii", grid.Shape{D: 1, H: 1, W: 1 << 15}, Flow{}, ""); err == nil {
		t.Error("a NIfTI file has an axis of 32768")
	}
	for path, want := range map[string]string{"a.NII.GZ": ".nii.gz", "b.nii": ".nii", "c.npy": ".npy", "d.gz": "", "e": ""} {
		if got := Extension(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
