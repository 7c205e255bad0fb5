package zarr

import (
	"strings"
	"testing"

	"eccbench/internal/checktest"
)

// A block of Blosc has a length after the header, followed by that number of bytes.
func blocksOfBlosc(t *testing.T) {
	src := make([]byte, bloscHeader+12)
	src[bloscHeader+4] = 4 // the decoded length, so it is copied
	for at := range int64(len(src) + 2) {
		out := make([]byte, 4)
		if err := unbloscBlock(out, src, at, 0, false, 1, nil); (err == nil) != (at == bloscHeader+4) {
			t.Errorf("a block at %d of %d bytes: %v", at, len(src), err)
		}
	}
	for _, c := range []struct {
		header [bloscHeader]byte
		want   string
	}{
		{[bloscHeader]byte{2, 1, 12: bloscHeader}, ""},
		{[bloscHeader]byte{0, 12: bloscHeader}, "version 0; want 2"},
		{[bloscHeader]byte{2, 2, 12: bloscHeader}, "version 2; want 1"},
		{[bloscHeader]byte{1, 12: bloscHeader}, "version 1; want 2"},
		{[bloscHeader]byte{2, 12: bloscHeader, 15: 1}, "has 16 bytes, and its header states 16777232"},
	} {
		if _, err := unblosc(nil, c.header[:], 0, nil); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.header, err, c.want)
		}
	}
	empty := [bloscHeader]byte{2, 1, bloscShuffled, 4, 11: 128, 12: bloscHeader} // of blocks of 2 GiB
	var out []byte
	var err error
	took := checktest.Allocated(func() { out, err = unblosc(nil, empty[:], 0, nil) })
	if err != nil || len(out) > 0 || took > 1<<20 {
		t.Errorf("no contents in large blocks: %d bytes, %v, %d bytes of memory", len(out), err, took)
	}
}
