package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/datasets/zarr"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
)

// zarrCube writes an uncompressed array of 8×8×8 bytes in chunks of 4×4×4, with a fill value in
// JSON. Chunk number k has the value k+1.
func zarrCube(t testing.TB, fill string) (dir string) {
	dir = filepath.Join(t.TempDir(), "a.zarr")
	writeOld(t, filepath.Join(dir, ".zarray"), fmt.Appendf(nil, `{"zarr_format":2,"shape":[8,8,8],"chunks":[4,4,4],"dtype":"|u1","compressor":null,"filters":null,"fill_value":%s,"order":"C"}`, fill))
	for k := range 8 {
		writeOld(t, cubeChunk(dir, k), bytes.Repeat([]byte{byte(k + 1)}, 64))
	}
	return dir
}

func cubeChunk(dir string, k int) string {
	return filepath.Join(dir, fmt.Sprintf("%d.%d.%d", k>>2, k>>1&1, k&1))
}

// zarrShard writes an array of 4×4 bytes in shards of 4×2 with two chunks of 2×2 each. The second
// chunk of the first shard is missing, and so is the second shard.
func zarrShard(t testing.TB) (dir string) {
	dir = filepath.Join(t.TempDir(), "b.zarr")
	writeOld(t, filepath.Join(dir, "zarr.json"), []byte(`{"zarr_format":3,"node_type":"array","shape":[4,4],"data_type":"uint8","fill_value":7,
		"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4,2]}},"chunk_key_encoding":{"name":"default"},
		"codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[2,2],"codecs":[{"name":"bytes"}],
		"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}]}}]}`))
	shard := []byte{1, 2, 3, 4}
	for _, n := range []uint64{0, 4, 1<<64 - 1, 1<<64 - 1} {
		shard = binary.LittleEndian.AppendUint64(shard, n)
	}
	writeOld(t, filepath.Join(dir, "c", "0", "0"), shard)
	return dir
}

// Booleans are 0 and 1, for any nonzero byte.
func TestZarrTruths(t *testing.T) {
	old, three := zarrCube(t, "false"), zarrShard(t)
	for dir, c := range map[string]struct{ meta, from, to string }{
		old: {".zarray", `"|u1"`, `"|b1"`}, three: {"zarr.json", `"uint8","fill_value":7`, `"bool","fill_value":true`},
	} {
		path := filepath.Join(dir, c.meta)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		writeOld(t, path, bytes.Replace(text, []byte(c.from), []byte(c.to), 1))
		for _, stream := range []string{"true", "false"} {
			s, err := Named.Open("file/stream=" + stream + "/path=" + dir)
			if err != nil {
				t.Fatal(err)
			}
			data, err := readTwice(s, 2)
			if err != nil || bytes.ContainsFunc(data, func(r rune) bool { return r > 1 }) || !bytes.Contains(data, []byte{1}) {
				t.Errorf("%s, stream=%s: %v, %v", c.meta, stream, data, err)
			}
			grid.Close(s)
		}
	}
}

// readTwice reads an image twice, in slabs of the given number of slices.
func readTwice(s grid.Source, by int64) ([]byte, error) {
	data := make([]byte, grid.TotalBytes(s))
	size := grid.SliceBytes(s)
	for range 2 {
		for lo := int64(0); lo < s.Shape().Slices(); lo += by {
			if err := s.ReadSlab(data[lo*size:(lo+by)*size], lo, lo+by); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// Missing chunks have the fill value, are counted once for any number of reads, and are an error in
// strict mode.
func TestMissingChunks(t *testing.T) {
	for _, c := range []struct {
		fill, shown string
		value       byte
		missing     []int
	}{
		{"0", "", 0, nil}, {"0", "1 of 8 chunks missing: fill value 0", 0, []int{7}}, {"null", "2 of 8 chunks missing: fill value 0", 0, []int{0, 5}},
		{"9", "8 of 8 chunks missing: fill value 9", 9, []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		dir := zarrCube(t, c.fill)
		want := make([]byte, 512)
		for i := range want {
			want[i] = byte((i>>8)<<2|(i>>5&1)<<1|(i>>2&1)) + 1
		}
		for _, k := range c.missing {
			for i := range want {
				if want[i] == byte(k+1) {
					want[i] = c.value
				}
			}
			if err := os.Remove(cubeChunk(dir, k)); err != nil {
				t.Fatal(err)
			}
		}
		for _, options := range []string{"", "stream=false/", "roll=2/"} {
			for _, by := range []int64{1, 2, 4, 8} {
				s, err := Named.Open("file/" + options + "path=" + dir)
				if err != nil {
					t.Fatal(err)
				}
				data, err := readTwice(s, by)
				if options == "roll=2/" {
					data = append(data[384:], data[:384]...)
				}
				if err != nil || !bytes.Equal(data, want) || grid.Missing(s) != c.shown || grid.Unchanged(s) != nil {
					t.Errorf("%s, %s%d slices: %q, want %q (%v, %v)", c.shown, options, by, grid.Missing(s), c.shown, err, grid.Unchanged(s))
				}
			}
			s, err := Named.Open("file/strict=true/" + options + "path=" + dir)
			if err == nil {
				_, err = readTwice(s, 2)
			}
			if (err != nil) != (c.missing != nil) || err != nil && !strings.Contains(err.Error(), "is missing; write it again, or leave strict out to read the fill value") {
				t.Errorf("%s%s, strictly: %v", options, c.shown, err)
			}
		}
	}
	s, err := Named.Open("file/path=" + zarrShard(t))
	if err != nil {
		t.Fatal(err)
	}
	data, err := readTwice(s, 2)
	if want := []byte{1, 2, 7, 7, 3, 4, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}; err != nil || !bytes.Equal(data, want) || grid.Missing(s) != "3 of 4 chunks missing: fill value 7" {
		t.Errorf("of shards: %v, %q (%v)", data, grid.Missing(s), err)
	}
}

// A part of an image reports missing chunks only for the rows of chunks that were read. A masked
// image reports those of both files.
func TestMissingChunksOfAPart(t *testing.T) {
	dir, whole := zarrCube(t, "0"), zarrCube(t, "0")
	for _, k := range []int{1, 6, 7} {
		if err := os.Remove(cubeChunk(dir, k)); err != nil {
			t.Fatal(err)
		}
	}
	open := func(dir string) grid.Source {
		s, err := Named.Open("file/path=" + dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(dir)
	if err := s.ReadSlab(make([]byte, 64), 5, 6); err != nil || grid.Missing(s) != "2 of 4 chunks missing: fill value 0" {
		t.Errorf("of the second row: %q (%v)", grid.Missing(s), err)
	}
	for _, c := range []struct{ image, mask, want string }{
		{whole, whole, ""}, {dir, whole, "3 of 8 chunks missing: fill value 0"}, {whole, dir, "mask: 3 of 8 chunks missing: fill value 0"},
	} {
		m, err := views.Mask(open(c.image), open(c.mask))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readTwice(m, 8); err != nil || grid.Missing(m) != c.want {
			t.Errorf("masked: %q, want %q (%v)", grid.Missing(m), c.want, err)
		}
	}
}

// For an array of very many chunks, the first message reports that few exist.
func TestScarceChunks(t *testing.T) {
	const manyObjects, mostFill = 1 << 16, 64 << 30
	dir := filepath.Join(t.TempDir(), "a.zarr")
	meta := `{"zarr_format":3,"node_type":"array","shape":[%d],"data_type":"uint8","fill_value":0,"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1]}},"chunk_key_encoding":{"name":"default"},"codecs":[{"name":"bytes"}]}`
	for n, want := range map[int]string{manyObjects: "2 of 65536 chunks present: the others are read as the fill value 0", manyObjects - 1: ""} {
		writeObject(t, filepath.Join(dir, "zarr.json"), fmt.Appendf(nil, meta, n))
		writeObject(t, filepath.Join(dir, "c", "3"), []byte{1})
		writeObject(t, filepath.Join(dir, "c", "70000"), []byte{1})
		s, err := Named.Open("file/path=" + dir)
		if err != nil || grid.Missing(s) != want {
			t.Fatalf("%d: %q (%v)", n, grid.Missing(s), err)
		}
		if _, err := Named.Open("file/strict=true/path=" + dir); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "2 of 65536 chunks present") {
			t.Errorf("%d, strictly: %v", n, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "b.zarr")
	large := strings.Replace(meta, `"chunk_shape":[1]`, `"chunk_shape":[1073741824]`, 1)
	for bytes, want := range map[int]string{mostFill: "", mostFill + 1: "0 of 65 chunks present"} {
		writeObject(t, filepath.Join(empty, "zarr.json"), fmt.Appendf(nil, large, bytes))
		_, err := Named.Open("file/stream=true/path=" + empty)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes of fill: %v, want %q", bytes, err, want)
		}
	}
	writeObject(t, filepath.Join(dir, "zarr.json"), fmt.Appendf(nil, strings.Replace(strings.Replace(meta, "[%d]", "[%d,1,1]", 1), "[1]", "[1,1,1]", 1), int64(1)<<40))
	if _, err := Named.Open("file/path=" + dir); err == nil || !strings.Contains(err.Error(), "rows of chunks; save it in larger chunks") {
		t.Errorf("more rows than there can be: %v", err)
	}
}

// A chunk, a shard or metadata that change between two reads, or after one, are an error.
func TestChunksThatChange(t *testing.T) {
	for what, change := range map[string]func(t testing.TB, dir string){
		"rewritten": func(t testing.TB, dir string) { rewrite(t, cubeChunk(dir, 6)) },
		"replaced": func(t testing.TB, dir string) {
			writeObject(t, cubeChunk(dir, 9), bytes.Repeat([]byte{9}, 64))
			if err := os.Rename(cubeChunk(dir, 9), cubeChunk(dir, 6)); err != nil {
				t.Fatal(err)
			}
		},
		"lost": func(t testing.TB, dir string) {
			if err := os.Remove(cubeChunk(dir, 6)); err != nil {
				t.Fatal(err)
			}
		},
		"metadata": func(t testing.TB, dir string) { rewrite(t, filepath.Join(dir, ".zarray")) },
	} {
		for _, stream := range []bool{true, false} {
			dir := zarrCube(t, "0")
			s, err := Open(dir, format.Options{Stream: stream})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := readTwice(s, 2); err != nil || grid.Unchanged(s) != nil {
				t.Fatalf("before: %v, %v", err, grid.Unchanged(s))
			}
			change(t, dir)
			_, err = readTwice(s, 2)
			if end := grid.Unchanged(s); errors.Is(err, storage.ErrChanged) != stream || errors.Is(end, storage.ErrChanged) != stream {
				t.Errorf("%s, streamed %v: %v, then %v", what, stream, err, end)
			}
		}
	}
	// A chunk that appears.
	dir := zarrCube(t, "0")
	if err := os.Remove(cubeChunk(dir, 6)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, format.Options{Stream: true})
	if err == nil {
		_, err = readTwice(s, 8)
	}
	if err != nil {
		t.Fatal(err)
	}
	writeOld(t, cubeChunk(dir, 6), bytes.Repeat([]byte{7}, 64))
	if _, err := readTwice(s, 8); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a chunk that appears: %v", err)
	}
}

// A chunk changes after its read, in one of two images: the check at the end reports it.
func TestChunksOfTwoImages(t *testing.T) {
	dir := zarrCube(t, "0")
	s, err := Open(dir, format.Options{Stream: true})
	if err == nil {
		err = s.ReadSlab(make([]byte, 256), 0, 4)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, 7} {
		rewrite(t, cubeChunk(dir, k))
	}
	if err := s.ReadSlab(make([]byte, 256), 4, 8); err != nil {
		t.Fatal(err)
	}
	if err := grid.Unchanged(s); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("half of one image and half of another: %v", err)
	}
}

// The index of a shard and its chunks must be from one version of the file.
func TestShardsThatChange(t *testing.T) {
	dir := zarrShard(t)
	s := zarr.Folder(dir)
	is, err := s.Part("c/0/0", make([]byte, 32), -32, storage.FileInfo{})
	if err != nil || is.Size != 36 {
		t.Fatal(is, err)
	}
	if _, err := s.Part("c/0/0", make([]byte, 4), 0, is); err != nil {
		t.Error(err)
	}
	rewrite(t, filepath.Join(dir, "c", "0", "0"))
	if _, err := s.Part("c/0/0", make([]byte, 4), 0, is); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a chunk of another shard: %v", err)
	}
}

// An unknown field of the metadata is an error, because it may change the voxels, unless it is
// marked as optional.
func TestUnknownZarrFields(t *testing.T) {
	for field, want := range map[string]string{
		"": "", `"x":{"must_understand":false},`: "", `"x":{"must_understand":true},`: "not understood", `"x":{},`: "not understood", `"x":5,`: "not understood", `"Shape":[9],`: "not in lower case", `"x":{"Must_understand":false},`: "not understood",
	} {
		s := memoryStore{"zarr.json": []byte(`{` + field + `"zarr_format":3,"node_type":"array","shape":[2,2],"data_type":"uint8","fill_value":0,
			"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2]}},"chunk_key_encoding":{"name":"default"},"codecs":[{"name":"bytes"}]}`)}
		if _, err := describeZarr(s, format.Options{}); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", field, err, want)
		}
	}
}

// Metadata without a required part, or with a misspelled part, are rejected.
func TestZarrMetadataWithoutAPart(t *testing.T) {
	const two = `{"zarr_format":2,"shape":[2,2],"chunks":[2,2],"dtype":"<u2","compressor":null,"filters":null,"fill_value":3,"order":"C"}`
	const three = `{"zarr_format":3,"node_type":"array","shape":[2,2],"data_type":"uint16","fill_value":3,"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,2]}},
		"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[1,2],"codecs":[{"name":"bytes","configuration":{"endian":"little"}}],
		"index_codecs":[{"name":"bytes","configuration":{"endian":"big"}}],"index_location":"end"}}]}`
	for _, c := range []struct{ text, was, is, want string }{
		{two, "", "", ""}, {three, "", "", ""}, {two, `"order":"C"}`, `"order":`, "unexpected end"}, {two, `"fill_value":3,`, "", "no fill_value"}, {two, `"fill_value":3,`, `"Fill_value":3,`, "not in lower case"}, {two, `"compressor"`, `"compRessor"`, "not in lower case"},
		{two, `"order"`, `"x":"` + "\xff" + `","order"`, "no UTF-8"}, {three, `"array"`, `"array","attributes":{"x":"` + "\xff" + `"}`, "no UTF-8"}, {three, `"fill_value":3,`, "", "no fill_value"}, {three, `"fill_value":3,`, `"fill_value":null,`, "null"},
		{three, `"configuration":{"endian":"little"}`, `"configuratio":{"endian":"little"}`, `unknown field "configuratio"`}, {three, `,"configuration":{"endian":"little"}`, "", "no endian"}, {three, `,"configuration":{"endian":"big"}`, "", "no endian"},
		{three, "separator", "separato", `unknown field "separato"`}, {three, `"end"`, `"middle"`, `"middle"`}, {three, "index_location", "index_locatio", `unknown field`}, {three, `{"name":"regular",`, `{"name":"regular","must_understand":true,`, ""},
		{three, `"endian":"big"`, `"enDian":"big"`, `unknown field "enDian"`}, {three, `"name":"bytes"`, `"namE":"bytes"`, `unknown field "namE"`}, {three, `"separator"`, `"Separator"`, `unknown field "Separator"`}, {three, `"separator"`, `"ſeparator"`, `unknown field "ſeparator"`},
		{two, `"compressor":null`, `"compressor":{"Id":"gzip"}`, `its codec is ""`}, {two, `"compressor":null`, `"compressor":{"id":"gzip"}`, ""}, {two, `"filters":null`, `"filters":[{"id":"delta"}]`, `its filter "delta"`},
	} {
		text := strings.Replace(c.text, c.was, c.is, 1)
		s := memoryStore{".zarray": []byte(text)}
		if c.text == three {
			s = memoryStore{"zarr.json": []byte(text)}
		}
		if _, err := describeZarr(s, format.Options{}); (err != nil) != (c.want != "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s for %s: %v, want %q", c.is, c.was, err, c.want)
		}
	}
}

// A space axis belongs to the image even if its length is 1, and other axes never do.
func TestThinZarrAxes(t *testing.T) {
	for _, c := range []struct {
		axes, shape string
		volume      int64
		want        grid.Shape
		data        []byte
	}{
		{"cyx", "[3,2,1]", 1, grid.Shape{D: 1, H: 2, W: 1}, []byte{3, 4}}, {"czyx", "[2,3,1,1]", 1, grid.Shape{D: 3, H: 1, W: 1}, []byte{4, 5, 6}},
		{"tyx", "[6,1,1]", 4, grid.Shape{D: 1, H: 1, W: 1}, []byte{5}}, {"zyxc", "[1,2,3,1]", 0, grid.Shape{D: 1, H: 2, W: 3}, []byte{1, 2, 3, 4, 5, 6}},
		{"zytx", "[1,2,1,3]", 0, grid.Shape{D: 1, H: 2, W: 3}, []byte{1, 2, 3, 4, 5, 6}},
	} {
		var names []string
		for _, a := range c.axes {
			names = append(names, fmt.Sprintf("%q", string(a)))
		}
		s := memoryStore{"c/0": []byte{1, 2, 3, 4, 5, 6}, "zarr.json": fmt.Appendf(nil, `{"zarr_format":3,"node_type":"array","shape":%s,"data_type":"uint8","fill_value":0,"dimension_names":[%s],
			"chunk_grid":{"name":"regular","configuration":{"chunk_shape":%[1]s}},"chunk_key_encoding":{"name":"default"},"codecs":[{"name":"bytes"}]}`, c.shape, strings.Join(names, ","))}
		s["c"+strings.Repeat("/0", len(c.axes))] = s["c/0"]
		o := format.Options{Volume: &c.volume}
		b, err := describeZarr(s, o)
		if err != nil || b.Shape != c.want {
			t.Errorf("%s of %s: %v (%v)", c.axes, c.shape, b, err)
			continue
		}
		image, err := b.Source()
		if err != nil || !bytes.Equal(image.(*grid.Field).Data(), c.data) {
			t.Errorf("%s of %s: %v (%v)", c.axes, c.shape, image, err)
		}
		if _, err := describeZarr(s, format.Options{}); (err != nil) != (c.volume > 0) {
			t.Errorf("%s of %s without a volume: %v", c.axes, c.shape, err)
		}
	}
}

// A channel is selected by a unique label, or by a number that is no other channel's label.
func TestChannelsOfOneLabel(t *testing.T) {
	const labels = `{"multiscales":[{"axes":[{"name":"c","type":"channel"},{"name":"y","type":"space"},{"name":"x","type":"space"}],"datasets":[{"path":"0"}]}],"omero":{"channels":[%s]}}`
	for _, c := range []struct{ labels, channel, want string }{
		{`{"label":"a"},{"label":"b"}`, "b", ""}, {`{"label":"a"},{"label":"b"}`, "1", ""},
		{`{"label":"a"},{"label":"a"}`, "a", `several channels are called "a"; choose one by its number, 0..1`}, {`{"label":"a"},{"label":"a"}`, "1", ""},
		{`{"label":"1"},{"label":"0"}`, "1", `channel 0 is called "1", which is the number of another; choose one by volume`}, {`{"label":"0"},{"label":"1"}`, "1", ""},
		{`{"label":"a"},{"label":"b"}`, "2", `there is no channel "2"; want 0..1, or one of "a", "b"`},
	} {
		dir := filepath.Join(t.TempDir(), "c.zarr")
		writeObject(t, filepath.Join(dir, ".zgroup"), []byte(`{"zarr_format":2}`))
		writeObject(t, filepath.Join(dir, ".zattrs"), fmt.Appendf(nil, labels, c.labels))
		writeObject(t, filepath.Join(dir, "0", ".zarray"), []byte(`{"zarr_format":2,"shape":[2,1,2],"chunks":[2,1,2],"dtype":"|u1","compressor":null,"filters":null,"fill_value":0,"order":"C"}`))
		writeObject(t, filepath.Join(dir, "0", "0.0.0"), []byte{1, 2, 3, 4})
		s, err := Open(dir, format.Options{Channel: c.channel})
		if c.want != "" {
			checkFileError(t, c.labels, err, c.want)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(*grid.Field).Data(); !bytes.Equal(got, []byte{3, 4}) {
			t.Errorf("%s: channel %s is %v", c.labels, c.channel, got)
		}
	}
}
