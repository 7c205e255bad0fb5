package storage

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A read returns the existing bytes, and an error beyond the end.
func readsPartsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	data := make([]byte, 3<<17+5)
	for i := range data {
		data[i] = byte(i>>9 ^ i)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, part := range [][2]int{{0, len(data)}, {3, 1 << 17}, {7, 1<<17 + 1}, {len(data) - 1, 1}, {len(data), 0}, {len(data) - 1, 2}, {5, len(data) - 4}} {
		got := make([]byte, part[1])
		switch err := ReadFileAt(path, got, int64(part[0])); {
		case part[0]+part[1] > len(data):
			if !errors.Is(err, io.EOF) || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%v is beyond the end: %v", part, err)
			}
		case err != nil || !bytes.Equal(got, data[part[0]:][:part[1]]):
			t.Errorf("%v is another part (%v)", part, err)
		}
	}
	if err := ReadFileAt(path+"y", nil, 0); err == nil {
		t.Error("of nothing part is read")
	}
}
