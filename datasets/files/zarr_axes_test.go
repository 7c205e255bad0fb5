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

// Attributes of CF conventions scale the values, and mark voxels that have none.
func TestZarrPacking(t *testing.T) {
	shape := []int64{2, 3, 4} // values 0 to 23
	for attributes, value := range map[string]func(int64) float64{
		`"scale_factor":0.5,"add_offset":3`:                    linear(3, 0.5),
		`"scale_factor":[-2]`:                                  linear(0, -2),
		`"add_offset":-100.5`:                                  linear(-100.5, 1),
		`"scale_factor":2,"_FillValue":255,"missing_value":-1`: linear(0, 2),
	} {
		got, err := openStore(zarrOf(shape, `"attributes":{`+attributes+`}`), format.Options{})
		if err != nil {
			t.Errorf("%s: %v", attributes, err)
			continue
		}
		checkFileImage(t, got, "4x3x2", grid.Float32, value)
	}
	for _, attributes := range []string{`"scale_factor":1,"add_offset":0.0`, `"_FillValue":24`, `"_FillValue":2.5`, `"_FillValue":-9999.0`,
		`"_FillValue":"AAAAAAAA+H8="`, `"_Unsigned":"true"`, `"missing_value":1e9`, `"Scale_Factor":2`} {
		got, err := openStore(zarrOf(shape, `"attributes":{`+attributes+`}`), format.Options{})
		if err != nil {
			t.Errorf("%s: %v", attributes, err)
			continue
		}
		checkFileImage(t, got, "4x3x2", grid.Uint8, linear(0, 1))
	}
	for attributes, want := range map[string]string{
		`"_FillValue":23`: "voxels have the value of _FillValue", `"missing_value":1e1`: "voxels have the value of missing_value",
		`"_FillValue":"AAAAAAAAFEA="`:                         "voxels have the value of _FillValue", // 5 as float64
		`"_FillValue":0,"missing_value":0.0,"scale_factor":2`: "voxels have the value of _FillValue or missing_value",
		`"_FillValue":"none"`:                                 "its attribute _FillValue is",
		`"scale_factor":"x"`:                                  "its attribute scale_factor is",
		`"add_offset":[1,2]`:                                  "want a number",
		`"scale_factor":0`:                                    "makes all voxels equal", `"_Unsigned":"false"`: "its attribute _Unsigned is",
	} {
		_, err := openStore(zarrOf(shape, `"attributes":{`+attributes+`}`), format.Options{})
		checkFileError(t, attributes, err, want)
	}
	// xarray writes its _FillValue as the fill value of version 2.
	for fill, want := range map[string]string{"7": "voxels have the value of fill_value", "99": "", "0": "", "null": ""} {
		for _, dimensions := range []string{`"_ARRAY_DIMENSIONS":["z","y","x"]`, ""} {
			s := zarrOf(shape, `"attributes":{}`)
			s = memoryStore{".zattrs": []byte("{" + dimensions + "}"), "0.0.0": s["c/0/0/0"], ".zarray": []byte(
				`{"zarr_format":2,"shape":[2,3,4],"chunks":[2,3,4],"dtype":"|u1","order":"C","compressor":null,"filters":null,"fill_value":` + fill + `}`)}
			_, err := openStore(s, format.Options{})
			if want != "" && dimensions != "" {
				checkFileError(t, fill, err, want)
			} else if err != nil {
				t.Errorf("fill value %s, attributes %q: %v", fill, dimensions, err)
			}
		}
	}
}
