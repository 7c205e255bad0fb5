package files

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// zarrOf returns a hierarchy of one chunk, whose values count up from 0. fields follow those of the
// array; type is uint8.
func zarrOf(shape []int64, fields string) memoryStore {
	text, _ := json.Marshal(shape) // integers have no error
	data := make([]byte, grid.Product(shape))
	for i := range data {
		data[i] = byte(i)
	}
	chunk := "c" + strings.Repeat("/0", len(shape))
	meta := bytes.Replace(zarrJSON(string(text), string(text)), []byte(`{"zarr`), []byte(`{`+fields+`,"zarr`), 1)
	return memoryStore{"zarr.json": meta, chunk: data}
}

// openStore reads a volume of a hierarchy in memory, or its only one.
func openStore(s memoryStore, o format.Options) (grid.Source, error) {
	b, err := describeZarr(s, o)
	if err != nil {
		return nil, err
	}
	return b.Source()
}

// Axes of space are read as z, y, x, whatever their order in the file is; others count volumes.
func TestZarrOrder(t *testing.T) {
	one := int64(1)
	for _, c := range []struct {
		names  string
		shape  []int64
		volume *int64
		want   string
		first  int64
		steps  [3]int64 // along x, y, z
	}{
		{"z y x", []int64{2, 3, 4}, nil, "4x3x2", 0, [3]int64{1, 4, 12}},
		{"x y z", []int64{2, 3, 4}, nil, "2x3x4", 0, [3]int64{12, 4, 1}},
		{"Y X Z", []int64{2, 3, 4}, nil, "3x2x4", 0, [3]int64{4, 12, 1}},
		{"x y", []int64{2, 3}, nil, "2x3", 0, [3]int64{3, 1, 0}},
		{"z y", []int64{2, 3}, nil, "3x2", 0, [3]int64{1, 3, 0}},
		{"t x y z", []int64{2, 2, 3, 4}, &one, "2x3x4", 24, [3]int64{12, 4, 1}},
		{"time y x", []int64{2, 3, 4}, &one, "4x3", 12, [3]int64{1, 4, 0}},
		{"time lat lon", []int64{2, 3, 4}, &one, "4x3", 12, [3]int64{1, 4, 0}},
		{"channel row col", []int64{2, 3, 4}, &one, "4x3", 12, [3]int64{1, 4, 0}},
		{"frame y x", []int64{2, 3, 4}, &one, "4x3", 12, [3]int64{1, 4, 0}},
		{"depth lat lon", []int64{2, 3, 4}, nil, "4x3x2", 0, [3]int64{1, 4, 12}},
	} {
		names, _ := json.Marshal(strings.Fields(c.names))
		for _, field := range []string{`"dimension_names":%`, `"attributes":{"_ARRAY_DIMENSIONS":%}`} {
			s := zarrOf(c.shape, strings.Replace(field, "%", string(names), 1))
			got, err := openStore(s, format.Options{Volume: c.volume})
			if err != nil {
				t.Errorf("%s: %v", c.names, err)
				continue
			}
			w, h := got.Shape().W, got.Shape().H
			checkFileImage(t, got, c.want, grid.Uint8, func(i int64) float64 {
				return float64(c.first + i%w*c.steps[0] + i/w%h*c.steps[1] + i/w/h*c.steps[2])
			})
		}
	}
}

// Known axes of time and channels are never merged into a volume, and unknown axes not silently.
func TestZarrOrderRefused(t *testing.T) {
	for names, want := range map[string]string{
		"time lat lon": "2 volumes of 4x3; choose", "frame y x": `its axis "frame" counts volumes`,
		"y x band": `its axis "band" comes after those of space`, "lat time lon": `an axis of "time" among those of space`,
		"time channel x": "6 volumes of 4", "t c c": "it is not known which of its axes", "x y x": "want z, y, x, each once",
	} {
		list, _ := json.Marshal(strings.Fields(names))
		_, err := openStore(zarrOf([]int64{2, 3, 4}, `"dimension_names":`+string(list)), format.Options{})
		checkFileError(t, names, err, want)
	}
	axes := `"attributes":{"multiscales":[{"axes":[{"name":"x","type":"space"},{"name":"depth","type":"space"},{"name":"y","type":"space"}]}]}`
	_, err := openStore(zarrOf([]int64{2, 3, 4}, axes), format.Options{})
	checkFileError(t, "depth", err, "want z, y, x, each once")
}
