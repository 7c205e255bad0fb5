package files

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"eccbench/internal/grid"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/datasets/zarr"

	"pgregory.net/rapid"
)

// zarrFiles returns the files of all fixtures in zarr.zip.
var zarrFiles = sync.OnceValues(func() (map[string][]byte, error) {
	z, err := zip.OpenReader(filepath.Join(fixtureDir, "zarr.zip"))
	if err != nil {
		return nil, err
	}
	defer z.Close() // only read from
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			return nil, err
		}
	}
	return files, nil
})

// unpackZarr writes fixtures to a folder.
func unpackZarr(t testing.TB) string {
	t.Helper()
	files, err := zarrFiles()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range files {
		writeObject(t, filepath.Join(dir, name), data)
	}
	return dir
}

func writeObject(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Files by zarr-python are read whole, streamed in any order, and once in order. Levels are every
// float32, or the distinct values.
func TestZarrFixtures(t *testing.T) {
	dir := unpackZarr(t)
	for _, f := range zarrFixtures() {
		t.Run(f.name+f.options, func(t *testing.T) {
			for _, stream := range []string{"", "/stream=once", "/stream=false"} {
				s, err := Named.Open("file" + f.options + stream + "/path=" + filepath.Join(dir, f.name+".zarr"))
				if err != nil {
					t.Fatal(err)
				}
				checkFileImage(t, s, f.shape, f.typ, f.value)
				want := grid.NewBuffer(grid.TotalBytes(s))
				if err := s.ReadSlab(want, 0, s.Shape().Slices()); err != nil {
					t.Fatal(err)
				}
				if diff := slabsDiffer(s, want); diff != "" {
					t.Fatal(diff)
				}
				if _, whole := s.(*grid.Field); whole {
					continue
				}
				if err := grid.Close(s); err != nil {
					t.Fatal(err)
				}
				if err := s.ReadSlab(want, 0, s.Shape().Slices()); !errors.Is(err, fs.ErrClosed) {
					t.Errorf("reading after Close: %v", err)
				}
			}
		})
	}
}

func TestZarrRefused(t *testing.T) {
	dir := unpackZarr(t)
	for _, c := range refusedZarr {
		_, err := Named.Open("file" + c.options + "/stream=false/path=" + filepath.Join(dir, c.name+".zarr"))
		checkFileError(t, c.name+c.options, err, c.want)
	}
	if _, err := Open(filepath.Join(fixtureDir, "u1_2d.npy"), format.Options{Channel: "a"}); err == nil {
		t.Error("a channel of an npy file is not refused")
	}
	empty := filepath.Join(dir, "empty.zarr")
	writeObject(t, filepath.Join(empty, "0"), nil)
	_, err := Open(empty, format.Options{})
	checkFileError(t, "empty", err, "no Zarr array or group: it has no zarr.json, .zarray or .zgroup")
}

// Every byte of the files of some fixtures is damaged, and each file is truncated. The image is
// rejected in one line, or is read. Memory is limited by the metadata.
func TestZarrDamaged(t *testing.T) {
	files, err := zarrFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f32_blosc_v3.zarr", "u16_blosc_lz4_bits_v2.zarr", "i16_shards_start_v3.zarr", "channels_04.zarr", "u16_zstd_crc_v3.zarr", "i16_lz4_v2.zarr", "i16_zlib_be_v2.zarr"} {
		s := memoryStore{}
		for path, data := range files {
			if rest, ok := strings.CutPrefix(path, name+"/"); ok {
				s[rest] = data
			}
		}
		for _, path := range slices.Sorted(maps.Keys(s))[:min(10, len(s))] {
			data := s[path]
			step := 1 + len(data)/40
			for n := 0; n < len(data); n += step {
				bad := bytes.Clone(data)
				bad[n] ^= 0xff
				for _, damaged := range [][]byte{bad, data[:n]} {
					s[path] = damaged
					err := readStore(t, s)
					if err != nil && (strings.Contains(err.Error(), "\n") || err.Error() == "") {
						t.Errorf("%s: %s: %q", name, path, err)
					}
					// A checksum detects each damage.
					if name == "u16_zstd_crc_v3.zarr" && strings.HasPrefix(path, "c/") && err == nil {
						t.Errorf("%s: %s: damaged at %d, and read", name, path, n)
					}
				}
			}
			s[path] = data
		}
	}
}

// readStore reads the image of a hierarchy.
func readStore(t rapid.TB, s zarr.Store) error {
	b, err := describeZarr(s, format.Options{Memory: 64 << 20, Every: true})
	if several := (format.VolumeError{}); errors.As(err, &several) {
		volume := several.Count / 2
		b, err = describeZarr(s, format.Options{Memory: 64 << 20, Every: true, Volume: &volume})
	}
	if err != nil {
		return err
	}
	before := allocated()
	source, err := b.Source()
	if n := allocated() - before; n > 1<<30 {
		t.Fatalf("%v %v took %d bytes of memory", b.Shape, b.Stored, n)
	}
	if err != nil {
		return err
	}
	if want := source.(*grid.Field); want.Shape() != b.Shape {
		t.Fatalf("%v is read as %v", b.Shape, want.Shape())
	}
	return nil
}

// A memoryStore is a store in memory.
type memoryStore map[string][]byte

func (s memoryStore) Whole(key string, most int64, buf []byte) ([]byte, storage.FileInfo, error) {
	data, ok := s[key]
	if !ok {
		return nil, storage.FileInfo{}, fs.ErrNotExist
	}
	if int64(len(data)) > most {
		return nil, storage.FileInfo{}, errors.New("too long")
	}
	return append(buf[:0], data...), storage.FileInfo{Size: int64(len(data))}, nil
}

func (s memoryStore) Stat(key string) (storage.FileInfo, bool) {
	return storage.FileInfo{Size: int64(len(s[key]))}, true
}

func (s memoryStore) Part(key string, dst []byte, at int64, was storage.FileInfo) (storage.FileInfo, error) {
	data, ok := s[key]
	if !ok {
		return was, fs.ErrNotExist
	}
	was.Size = int64(len(data))
	if at < 0 {
		at += int64(len(data))
	}
	if at < 0 || at+int64(len(dst)) > int64(len(data)) {
		return was, errors.New("truncated")
	}
	copy(dst, data[at:])
	return was, nil
}

func (s memoryStore) List(string) []string { return nil }
func (s memoryStore) Readers() int64       { return int64(runtime.GOMAXPROCS(0)) }

// A countingStore counts the reads of each of its objects.
type countingStore struct {
	zarr.Store
	mu    sync.Mutex
	reads map[string]int
}

func (s *countingStore) count(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads[key]++
}

func (s *countingStore) Whole(key string, most int64, buf []byte) ([]byte, storage.FileInfo, error) {
	s.count(key)
	return s.Store.Whole(key, most, buf)
}

func (s *countingStore) Part(key string, dst []byte, at int64, was storage.FileInfo) (storage.FileInfo, error) {
	s.count(fmt.Sprint(key, " ", at))
	return s.Store.Part(key, dst, at, was)
}

// An image that is read in order reads and decodes each chunk once, for any slabs and several
// concurrent readers. So does a part that consists of whole rows of chunks. A second read is
// equal.
func TestZarrReadsOnce(t *testing.T) {
	dir := unpackZarr(t)
	for _, name := range []string{"u8_v3", "u16_shards_v3", "channels_05", "u16_missing_v2"} {
		volume := int64(1)
		o := format.Options{Stream: true}
		if name == "channels_05" {
			o.Volume = &volume
		}
		open := func() (grid.Source, *countingStore) {
			s := &countingStore{Store: zarr.Folder(filepath.Join(dir, name+".zarr")), reads: map[string]int{}}
			b, err := describeZarr(s, o)
			if err != nil {
				t.Fatal(err)
			}
			src, err := b.Source()
			if err != nil {
				t.Fatal(err)
			}
			return src, s
		}
		src, _ := open()
		if step, want := grid.Step(src), int64(2); step != want {
			t.Fatalf("%s: rows of %d slices, want %d", name, step, want)
		}
		for _, by := range []int64{1, 3, 5} {
			src, s := open()
			var wg sync.WaitGroup
			for lo := int64(0); lo < 5; lo += by {
				wg.Go(func() {
					hi := min(5, lo+by)
					if err := src.ReadSlab(grid.NewBuffer((hi-lo)*grid.SliceBytes(src)), lo, hi); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			for key, n := range s.reads {
				if n != 1 && !strings.HasSuffix(key, ".json") && !strings.HasPrefix(filepath.Base(key), ".z") {
					t.Errorf("%s by %d: %s is read %d times", name, by, key, n)
				}
			}
		}
		src, s := open()
		clear(s.reads)
		if err := src.ReadSlab(grid.NewBuffer(2*grid.SliceBytes(src)), 2, 4); err != nil {
			t.Fatal(err)
		}
		rows := map[string]int{}
		for key := range s.reads {
			rows[strings.Join(strings.FieldsFunc(key, func(r rune) bool { return strings.ContainsRune("/.", r) })[:2], "/")]++
		}
		if len(rows) != 1 && name == "u8_v3" {
			t.Errorf("%s: slices 2 and 3 are of chunks %v", name, rows)
		}
	}
}

// Any run of elements equals the same part of the whole, for any begin and end.
func TestZarrRuns(t *testing.T) {
	dir := unpackZarr(t)
	for _, name := range []string{"u16_shards_missing_v3", "f32_transpose_v3", "i16_zlib_be_v2", "u16_v2keys_v3"} {
		body, err := describeZarr(zarr.Folder(filepath.Join(dir, name+".zarr")), format.Options{Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		size, n := body.Stored.Size(), body.Shape.Voxels()
		whole := make([]byte, n*size)
		if err := body.In.ReaderAt.(*zarr.Array).Fill(whole, 0); err != nil {
			t.Fatal(err)
		}
		for lo := int64(0); lo < n; lo += 5 {
			for hi := lo + 1; hi <= n; hi += 13 {
				part := make([]byte, (hi-lo)*size)
				if k, err := body.In.ReadAt(part, lo*size); err != nil || k != len(part) || !bytes.Equal(part, whole[lo*size:hi*size]) {
					t.Fatalf("%s: elements %d to %d: %d bytes, %v", name, lo, hi, k, err)
				}
			}
		}
		if k, err := body.In.ReadAt(make([]byte, 4*size), (n-2)*size); int64(k) != 2*size || err != io.EOF {
			t.Errorf("%s: beyond the end: %d bytes, %v", name, k, err)
		}
		if err := body.In.ReaderAt.(*zarr.Array).Fill(make([]byte, 1), 1); size > 1 && err == nil {
			t.Errorf("%s: half an element is read", name)
		}
	}
}

// zarrJSON returns the metadata of an array of uint8 without chunks.
func zarrJSON(shape, chunk string) []byte {
	return []byte(`{"zarr_format":3,"node_type":"array","shape":` + shape + `,"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":` + chunk +
		`}},"chunk_key_encoding":{"name":"default"},"fill_value":3,"codecs":[{"name":"bytes"}]}`)
}

// FuzzZarr damages the metadata and one chunk of an array.
func FuzzZarr(f *testing.F) {
	files, err := zarrFiles()
	if err != nil {
		f.Fatal(err)
	}
	for _, x := range zarrFixtures() {
		for _, mark := range []string{"zarr.json", ".zarray"} {
			for _, chunk := range []string{"c/0/0/0", "0.0.0"} {
				if meta, data := files[x.name+".zarr/"+mark], files[x.name+".zarr/"+chunk]; meta != nil && data != nil {
					f.Add(mark == "zarr.json", meta, data)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, third bool, meta, chunk []byte) {
		s := memoryStore{".zarray": meta, "0.0.0": chunk, "0/0/0": chunk, "1.0.0": chunk}
		if third {
			s = memoryStore{"zarr.json": meta, "c/0/0/0": chunk, "c.0.0.0": chunk, "c/1/0/0": chunk}
		}
		if err := readStore(t, s); err != nil && (strings.Contains(err.Error(), "\n") || err.Error() == "") {
			t.Fatalf("error is not one line: %q", err)
		}
	})
}

// A file is no hierarchy, which the error states.
func TestZarrOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.zarr")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := describeZarrPath(&storage.Set{}, path, format.Options{}); err == nil || !strings.Contains(err.Error(), "this is none") {
		t.Error(err)
	}
}

// One of several channels must be selected, if they have names. One name or none has no meaning.
func TestZarrChannels(t *testing.T) {
	second := int64(1)
	for _, c := range []struct {
		names  []string
		count  int64
		volume *int64
		want   bool
	}{{nil, 2, nil, true}, {[]string{"a"}, 2, nil, true}, {[]string{"a", "b"}, 1, nil, true}, {[]string{"a", "b"}, 2, nil, false}, {[]string{"a", "b"}, 2, &second, true}} {
		if got, err := format.ChannelVolume(format.Options{Volume: c.volume}, c.names, []int64{c.count, 4, 4}, 0); (err == nil) != c.want || got != c.volume {
			t.Errorf("%d named channels of %d: %v", len(c.names), c.count, err)
		}
	}
}

// Rows of chunks that exceed the memory are rejected before any read.
func TestZarrRoom(t *testing.T) {
	s := memoryStore{"zarr.json": zarrJSON("[100000,100000,100000]", "[128,128,128]")}
	_, err := describeZarr(s, format.Options{Memory: 1 << 30, Stream: true})
	checkFileError(t, "rows", err, "2 rows of its chunks of [128 128 128], and those that are read, take 2.33 TiB of memory, 1.00 GiB are free")
	b, err := describeZarr(s, format.Options{Stream: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Source(); err != nil {
		t.Fatal(err)
	}
}
