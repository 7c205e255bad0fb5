package storage

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// Pieces of a large read are at their offsets, and the first missing one is reported.
func TestReadAt(t *testing.T) {
	file := make([]byte, 20<<20+5)
	rng := rand.NewChaCha8([32]byte{1})
	rng.Read(file)
	in := bytes.NewReader(file)
	for _, c := range []struct{ at, n int64 }{{0, 0}, {3, 1}, {5, 8 << 20}, {0, 20<<20 + 5}, {20 << 20, 5}, {1 << 20, 17 << 20}} {
		dst := make([]byte, c.n)
		if err := ReadAt(in, dst, c.at); err != nil || !bytes.Equal(dst, file[c.at:c.at+c.n]) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := ReadAt(in, make([]byte, 20<<20+6), 0); !errors.Is(err, io.EOF) {
		t.Errorf("beyond the end: %v", err)
	}
	broken := errors.New("broken")
	if err := ReadAt(failing{9 << 20, broken}, make([]byte, 30<<20), 0); err != broken {
		t.Errorf("a disk that fails in the middle: %v", err)
	}
}

// failing returns an error for reads beyond an offset, and another error further on.
type failing struct {
	from int64
	err  error
}

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	switch {
	case at > f.from:
		return 0, io.ErrUnexpectedEOF
	case at+int64(len(p)) > f.from:
		return int(f.from - at), f.err
	}
	return len(p), nil
}
