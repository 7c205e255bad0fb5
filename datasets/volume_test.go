package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

func TestVolumes(t *testing.T) {
	for _, f := range volumeFixtures() {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join(fixtureDir, f.name)
			_, err := OpenFile(path, FileOptions{})
			checkFileError(t, "no volume", err, fmt.Sprintf("%d volumes of %s; choose one with --volume 0..%d", f.count, f.shape, f.count-1))
			if n, err := Volumes(path, FileOptions{}); n != f.count || err != nil {
				t.Errorf("%d volumes, %v; want %d", n, err, f.count)
			}
			for v := range f.count {
				// Streamed where it can be.
				for _, options := range []string{"", "/stream=false"} {
					s, err := Open(fmt.Sprintf("file/volume=%d%s/path=%s", v, options, path))
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
				_, err := OpenFile(path, FileOptions{Volume: &v})
				checkFileError(t, "volume", err, fmt.Sprintf("no volume %d of %d", v, f.count))
			}
		})
	}
}

// Every volume is damaged when one of them is: a file says how many there are.
func TestVolumesDamaged(t *testing.T) {
	for _, f := range volumeFixtures() {
		whole := readFixture(t, f.name)
		fits := strings.HasSuffix(f.name, ".fits") // other bytes may follow, and 144 bytes of voxels need no padding
		for n := 0; n < len(whole); n += 1 + len(whole)/1000 {
			for _, v := range []int64{0, f.count - 1} {
				padding := fits && n >= len(whole)-fitsBlock+144
				if _, err := openFileBytes(f.name, whole[:n], FileOptions{Volume: &v}); err == nil && !padding {
					t.Fatalf("%s: the first %d of %d bytes are accepted", f.name, n, len(whole))
				}
			}
			bad := slices.Clone(whole)
			bad[n] ^= 0xff
			checkAnyFile(t, f.name, bad)
		}
		zero := int64(0)
		if _, err := openFileBytes(f.name, append(slices.Clone(whole), 1), FileOptions{Volume: &zero}); err == nil && !fits {
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
	if n, err := Volumes(path, FileOptions{}); n != 3 || err != nil {
		t.Errorf("%d volumes, %v", n, err)
	}
}

func TestVolumesOfOne(t *testing.T) {
	zero, one := int64(0), int64(1)
	if _, err := OpenFile(filepath.Join(fixtureDir, "u8_3d.nii"), FileOptions{Volume: &zero}); err != nil {
		t.Error(err)
	}
	_, err := OpenFile(filepath.Join(fixtureDir, "u8_3d.nii"), FileOptions{Volume: &one})
	checkFileError(t, "volume 1", err, "no volume 1 of one; leave --volume out")
	_, err = OpenFile(filepath.Join(fixtureDir, "u8_2d.png"), FileOptions{Volume: &zero})
	checkFileError(t, "PNG", err, "a PNG file has one volume")
	for _, name := range []string{"u8_3d.nii", "u8_2d.png", "u8_2d.tif", "i16_pair_3d.hdr"} {
		if n, err := Volumes(filepath.Join(fixtureDir, name), FileOptions{}); n != 1 || err != nil {
			t.Errorf("%s: %d volumes, %v", name, n, err)
		}
	}
	huge := writeNpy(npyHeaderText("<f4", "False", "(2147483648, 2147483648, 2, 2, 2)"), make([]byte, 64))
	checkRefusedCheaply(t, "huge.npy", huge, FileOptions{Volume: &zero}, "more voxels than can be counted")
	long := writeNpy(npyHeaderText("<f4", "True", "(1000000, 1000000, 1, 2, 2)"), make([]byte, 64))
	checkRefusedCheaply(t, "long.npy", long, FileOptions{Volume: &zero}, "truncated")
}

// A survey of one volume is none of another.
func TestVolumeSurveys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	data := make([]float32, 2*8)
	for i := range data {
		data[i] = float32(i * i)
	}
	if err := os.WriteFile(path, writeNpy(npyHeaderText("<f4", "False", "(2, 2, 2, 2)"), grid.Bytes(data)), 0o666); err != nil {
		t.Fatal(err)
	}
	var surveys Surveys
	for v, want := range []float32{49, 225} {
		s, err := surveys.Open(fmt.Sprintf("file/volume=%d/path=%s", v, path))
		if err != nil {
			t.Fatal(err)
		}
		if l := s.Ladder(); l.Value(l.Len()-1) != want {
			t.Errorf("volume %d: the last level is %v, want %v", v, l.Value(l.Len()-1), want)
		}
		grid.Close(s)
	}
}
