package datasets

import (
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// An image that is held whole is refused where it takes more memory than there is, with the
// sum, before it is read; one that is streamed is not.
func TestRoom(t *testing.T) {
	for name, c := range map[string]struct {
		least int64
		sum   string
	}{
		"u8_3d.nii":            {24, "24 B as stored)"},
		"f64_ranked_3d.nii.gz": {24 * (8 + 4 + 16), "192 B as stored + 96 B as float32 + 384 B while they are ranked)"},
		"i8_3d.nii":            {24 * (1 + 2), "24 B as stored + 48 B as int16)"},
		"u8_3d.mha":            {24, "24 B as stored)"},
		"u8_strips_3d.tif":     {0, "as stored)"},
		"u8_2d.png":            {0, "as stored)"},
		"u2_fortran_3d.npy":    {24 * (2 + 2), "48 B as stored + 48 B in order)"},
	} {
		path := filepath.Join(fixtureDir, name)
		most := int64(1)
		if c.least > 0 {
			most = c.least - 1
		}
		_, err := OpenFile(path, FileOptions{Memory: most})
		if err == nil || !strings.Contains(err.Error(), c.sum) || !strings.Contains(err.Error(), "voxels take") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s in %d bytes: %v, want %q", name, most, err, c.sum)
		}
		if _, err := OpenFile(path, FileOptions{Memory: max(c.least, 1<<20)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.least == 0 {
			continue
		}
		if _, err := OpenFile(path, FileOptions{Memory: c.least}); err != nil {
			t.Errorf("%s in %d bytes: %v", name, c.least, err)
		}
	}
	s, err := OpenFile(filepath.Join(fixtureDir, "u8_3d.nii"), FileOptions{Memory: 1, Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	grid.Close(s)
	if _, err := OpenFile(filepath.Join(fixtureDir, "u8_3d.mha.bz2"), FileOptions{Memory: 1}); err == nil || !strings.Contains(err.Error(), "which are free") {
		t.Errorf("decompressed in a byte: %v", err)
	}
	if _, err := OpenIn(1, "stack/path="+filepath.Join(fixtureDir, "series")); err == nil || !strings.Contains(err.Error(), "voxels take") {
		t.Errorf("a stack in a byte: %v", err)
	}
}
