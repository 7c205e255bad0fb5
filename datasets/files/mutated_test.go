package files

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/storage"
	"eccbench/datasets/zarr"
	"eccbench/internal/checktest"
)

// A file with any content is read as one image or is an error of one line, in little memory and
// time. make fuzz-files runs very many.
func TestMutatedFiles(t *testing.T) {
	entries, err := os.ReadDir(fixtureDir)
	if err != nil {
		t.Fatal(err)
	}
	var seeds []checktest.Seed
	for _, e := range entries {
		name := e.Name()
		if _, inner, ok := wrapping(name, nil); !IsImage(name) && !ok || strings.HasSuffix(inner, ".raw") {
			continue // a folder, or a part of a pair
		}
		s := checktest.Seed{Name: name, Data: readFixture(t, name)}
		seeds = append(seeds, s)
		switch {
		case strings.HasSuffix(name, ".png"):
			s.Pack = mendPng
			seeds = append(seeds, s)
		case strings.HasSuffix(name, ".gz"), strings.HasSuffix(name, ".zst"):
			p, _, _ := wrapping(name, nil)
			r, err := p.Open(bytes.NewReader(s.Data), int64(len(s.Data)))
			if err != nil {
				t.Fatal(err)
			}
			if s.Data, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
			s.Pack = zipped
			if p.Name == storage.Zstd.Name {
				s.Pack = func(data []byte) []byte { return zstdOf(t, data) }
			}
			seeds = append(seeds, s)
		}
	}
	checktest.Mutated(t, 400, seeds, func(name string, data []byte) {
		checkAnyFile(t, name, data)
		checkOnce(t, name, data)
	})
}

// A Zarr array with any metadata and any chunks is read, or is an error of one line.
func TestMutatedZarr(t *testing.T) {
	files, err := zarrFiles()
	if err != nil {
		t.Fatal(err)
	}
	var seeds []checktest.Seed
	for name, data := range files {
		seeds = append(seeds, checktest.Seed{Name: name, Data: data})
		if zarr.IsMetadata(name) { // these have the largest effect
			seeds = append(seeds, slices.Repeat([]checktest.Seed{{Name: name, Data: data}}, 8)...)
		}
	}
	slices.SortFunc(seeds, func(a, b checktest.Seed) int { return strings.Compare(a.Name, b.Name) })
	checktest.Mutated(t, 400, seeds, func(name string, data []byte) {
		array, _, _ := strings.Cut(name, "/")
		s := memoryStore{}
		for other, sound := range files {
			if key, ok := strings.CutPrefix(other, array+"/"); ok {
				s[key] = sound
			}
		}
		s[strings.TrimPrefix(name, array+"/")] = data
		if err := readStore(t, s); err != nil && (strings.Contains(err.Error(), "\n") || err.Error() == "") {
			t.Fatalf("%s: error is not one line: %q", path.Base(name), err)
		}
	})
}

// mendPng returns a PNG file with the right checksums of its chunks, as far as it has chunks.
func mendPng(data []byte) []byte {
	data = slices.Clone(data)
	for at := len(pngMagic); at+12 <= len(data); {
		n := int(binary.BigEndian.Uint32(data[at:]))
		if n < 0 || n > len(data)-at-12 {
			break
		}
		binary.BigEndian.PutUint32(data[at+8+n:], crc32.ChecksumIEEE(data[at+4:at+8+n]))
		at += 12 + n
	}
	return data
}
