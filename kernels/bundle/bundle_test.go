package bundle

import (
	"bytes"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// pack makes a bundle.
func pack(t *testing.T, files []File) []byte {
	t.Helper()
	archive, err := Archive(files)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(archive, nil)
}

func TestBundle(t *testing.T) {
	for _, files := range [][]File{
		nil,
		{{"a", "what it is of", []byte("text")}},
		{{"a", "1", nil}, {"b", "2", bytes.Repeat([]byte("xyz"), 1000)}, {strings.Repeat("long", 50), "3", []byte{0}}},
	} {
		data := pack(t, files)
		if !bytes.Equal(pack(t, files), data) {
			t.Error("packed again it is other bytes")
		}
		got, err := Unpack(data, nil)
		if err != nil || len(got) != len(files) {
			t.Fatalf("%d files, %v, want %d", len(got), err, len(files))
		}
		for i, f := range files {
			if got[i].Name != f.Name || got[i].Stamp != f.Stamp || !bytes.Equal(got[i].Data, f.Data) {
				t.Errorf("%s came back as %s, %s, %d bytes", f.Name, got[i].Name, got[i].Stamp, len(got[i].Data))
			}
		}
		for _, bad := range [][]byte{nil, data[:len(data)/2], append(bytes.Clone(data[:len(data)-1]), data[len(data)-1]^1)} {
			if got, err := Unpack(bad, nil); err == nil && len(bad) > 0 {
				t.Errorf("%d of %d bytes were unpacked to %d files", len(bad), len(data), len(got))
			}
		}
	}
}

// A bundle that was compressed after another archive needs that archive, and one that was not ignores it.
func TestAfter(t *testing.T) {
	before := bytes.Repeat([]byte("0123456789abcdef, of another archive; "), 100)
	files := []File{{"a", "1", before[100:2000]}}
	alone := pack(t, files)
	archive, err := Decompress(alone, before)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(0, before))
	if err != nil {
		t.Fatal(err)
	}
	after := z.EncodeAll(archive, nil)
	if len(after) >= len(alone) {
		t.Errorf("%d bytes after the other archive, %d alone", len(after), len(alone))
	}
	if got, err := Unpack(after, before); err != nil || len(got) != 1 || !bytes.Equal(got[0].Data, files[0].Data) {
		t.Errorf("%d files, %v", len(got), err)
	}
	if got, err := Unpack(after, nil); err == nil {
		t.Errorf("%d files without the archive before it", len(got))
	}
}
