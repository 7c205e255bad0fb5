package bundle

import (
	"bytes"
	"strings"
	"testing"
)

func TestBundle(t *testing.T) {
	for _, files := range [][]File{
		nil,
		{{"a", "what it is of", []byte("text")}},
		{{"a", "1", nil}, {"b", "2", bytes.Repeat([]byte("xyz"), 1000)}, {strings.Repeat("long", 50), "3", []byte{0}}},
	} {
		data, err := Pack(files)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Pack(files)
		if err != nil || !bytes.Equal(again, data) {
			t.Errorf("packed again it is other bytes, %v", err)
		}
		got, err := Unpack(data)
		if err != nil || len(got) != len(files) {
			t.Fatalf("%d files, %v, want %d", len(got), err, len(files))
		}
		for i, f := range files {
			if got[i].Name != f.Name || got[i].Stamp != f.Stamp || !bytes.Equal(got[i].Data, f.Data) {
				t.Errorf("%s came back as %s, %s, %d bytes", f.Name, got[i].Name, got[i].Stamp, len(got[i].Data))
			}
		}
		for _, bad := range [][]byte{nil, data[:len(data)/2], append(bytes.Clone(data[:len(data)-1]), data[len(data)-1]^1)} {
			if got, err := Unpack(bad); err == nil && len(bad) > 0 {
				t.Errorf("%d of %d bytes were unpacked to %d files", len(bad), len(data), len(got))
			}
		}
	}
}
