package files

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func TestVolumes(t *testing.T) {
	for _, f := range volumeFixtures() {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join(fixtureDir, f.name)
			_, err := Open(path, format.Options{})
			checkFileError(t, "no volume", err, fmt.Sprintf("%d volumes of %s; choose one of 0..%d", f.count, f.shape, f.count-1))
			if n, err := Volumes(path, format.Options{}); n != f.count || err != nil {
				t.Errorf("%d volumes, %v; want %d", n, err, f.count)
			}
			for v := range f.count {
				// Streamed if possible.
				for _, options := range []string{"", "/stream=false"} {
					s, err := Named.Open(fmt.Sprintf("file/volume=%d%s/path=%s", v, options, path))
					if err != nil {
						t.Fatal(err)
					}
					checkFileImage(t, s, f.shape, f.typ, func(i int64) float64 { return f.value(v, i) })
					if err := grid.Close(s); err != nil {
						t.Error(err)
					}
				}
			}
			for _, v := range []int64{-1, f.count} {
				_, err := Open(path, format.Options{Volume: &v})
				checkFileError(t, "volume", err, fmt.Sprintf("no volume %d of %d", v, f.count))
			}
		})
	}
}

// If one volume is damaged, every one is, because the file has a count.
func TestVolumesDamaged(t *testing.T) {
	for _, f := range volumeFixtures() {
		whole := readFixture(t, f.name)
		fits := strings.HasSuffix(f.name, ".fits") // other bytes may follow, and 144 bytes of voxels need no padding
		for n := 0; n < len(whole); n += 1 + len(whole)/1000 {
			for _, v := range []int64{0, f.count - 1} {
				padding := fits && n >= len(whole)-fitsBlock+144
				if _, err := openFileBytes(f.name, whole[:n], format.Options{Volume: &v}); err == nil && !padding {
					t.Fatalf("%s: the first %d of %d bytes are accepted", f.name, n, len(whole))
				}
			}
			bad := slices.Clone(whole)
			bad[n] ^= 0xff
			checkAnyFile(t, f.name, bad)
		}
		zero := int64(0)
		if _, err := openFileBytes(f.name, append(slices.Clone(whole), 1), format.Options{Volume: &zero}); err == nil && !fits {
			t.Errorf("%s: a byte after the end is accepted", f.name)
		}
	}
}

// The volumes of a file that is compressed as a whole are counted, too.
func TestVolumesWrapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.npy.gz")
	if err := os.WriteFile(path, zipped(readFixture(t, "i2_volumes_4d.npy")), 0o666); err != nil {
		t.Fatal(err)
	}
	if n, err := Volumes(path, format.Options{}); n != 3 || err != nil {
		t.Errorf("%d volumes, %v", n, err)
	}
}

func TestVolumesOfOne(t *testing.T) {
	zero, one := int64(0), int64(1)
	if _, err := Open(filepath.Join(fixtureDir, "u8_3d.nii"), format.Options{Volume: &zero}); err != nil {
		t.Error(err)
	}
	_, err := Open(filepath.Join(fixtureDir, "u8_3d.nii"), format.Options{Volume: &one})
	checkFileError(t, "volume 1", err, "no volume 1 of one; leave volume out")
	_, err = Open(filepath.Join(fixtureDir, "u8_2d.png"), format.Options{Volume: &zero})
	checkFileError(t, "PNG", err, "a PNG file has one volume")
	for _, name := range []string{"u8_3d.nii", "u8_2d.png", "u8_2d.tif", "i16_pair_3d.hdr"} {
		if n, err := Volumes(filepath.Join(fixtureDir, name), format.Options{}); n != 1 || err != nil {
			t.Errorf("%s: %d volumes, %v", name, n, err)
		}
	}
	huge := writeNpy(npyHeaderText("<f4", "False", "(2147483648, 2147483648, 2, 2, 2)"), make([]byte, 64))
	checkRefusedCheaply(t, "huge.npy", huge, format.Options{Volume: &zero}, "more voxels than can be counted")
	long := writeNpy(npyHeaderText("<f4", "True", "(1000000, 1000000, 1, 2, 2)"), make([]byte, 64))
	checkRefusedCheaply(t, "long.npy", long, format.Options{Volume: &zero}, "truncated")
}

// The survey of one volume is not used for another.
func TestVolumeSurveys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	data := make([]float32, 2*8)
	for i := range data {
		data[i] = float32(i * i)
	}
	if err := os.WriteFile(path, writeNpy(npyHeaderText("<f4", "False", "(2, 2, 2, 2)"), grid.Bytes(data)), 0o666); err != nil {
		t.Fatal(err)
	}
	var surveys format.Surveys
	for v, want := range []float32{49, 225} {
		s, err := Named.OpenWith(&surveys, fmt.Sprintf("file/volume=%d/path=%s", v, path))
		if err != nil {
			t.Fatal(err)
		}
		if l := s.Ladder(); l.Value(l.Len()-1) != want {
			t.Errorf("volume %d: the last level is %v, want %v", v, l.Value(l.Len()-1), want)
		}
		grid.Close(s)
	}
}

// A space axis in a header belongs to the image even if its length is 1.
func TestVolumesOfWidthOne(t *testing.T) {
	counted := make([]byte, 18) // 3 volumes of 3 rows of 2 voxels, or of 2 slices of 3 rows of one
	for i := range counted {
		counted[i] = byte(i)
	}
	mrc := slices.Clone(readFixture(t, "i8_3d.mrc")[:mrcHeaderSize])
	for at, n := range map[int]uint32{0: 1, 4: 3, 8: 6, 36: 2, 88: 401, 92: 0} {
		binary.LittleEndian.PutUint32(mrc[at:], n)
	}
	fits := []string{"SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 4", "NAXIS1  = 1", "NAXIS2  = 3", "NAXIS3  = 2", "NAXIS4  = 3"}
	const nrrd = "type: uchar\ndimension: 4\nsizes: 1 3 2 3\nencoding: raw\n"
	for _, c := range []struct {
		name  string
		data  []byte
		count int64
	}{
		{"x.nii", writeNifti(niftiOf(element.Uint8, false, counted, 1, 3, 2, 3)), 3},
		{"x.mrc", append(mrc, counted...), 3},
		{"x.fits", writeFits(fits, string(counted)), 3},
		{"x.mha", append([]byte("ObjectType = Image\nNDims = 4\nBinaryData = True\nDimSize = 1 3 2 3\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n"), counted...), 3},
		{"x.nrrd", writeNrrd(nrrd+"kinds: domain domain domain time\n", counted), 3},
		{"x.nrrd", writeNrrd(nrrd+"kinds: space space space none\n", counted), 3},
		{"x.nrrd", writeNrrd("type: uchar\ndimension: 3\nsizes: 1 6 3\nencoding: raw\nkinds: domain domain list\n", counted), 3},
		{"x.nrrd", writeNrrd(nrrd, counted), 1},
		{"x.npy", writeNpy(npyHeaderText("|u1", "False", "(3, 2, 3, 1)"), counted), 1},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		if n, err := Volumes(path, format.Options{}); n != c.count || err != nil {
			t.Errorf("%s: %d volumes, %v; want %d", c.name, n, err, c.count)
			continue
		}
		if c.count == 1 {
			checkFileImage(t, mustOpen(t, c.name, c.data), "3x2x3", grid.Uint8, linear(0, 1))
			continue
		}
		for v := range c.count {
			s, err := Open(path, format.Options{Volume: &v})
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if s.Shape().Voxels() != 6 || s.Shape().W != 1 {
				t.Errorf("%s: %v", c.name, s.Shape())
			}
			checkFileImage(t, s, s.Shape().String(), s.Type(), linear(float64(6*v), 1))
			grid.Close(s)
		}
	}
}
