package main

import (
	"encoding/binary"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"eccbench/internal/headers"
)

// The map of a label sums to the difference of χ in its row; that of several to the row of the union.
func TestMapOfLabels(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	for name, turn := range map[string]int{"pred.npy": 3, "truth.npy": 7} {
		data := headers.Npy("u1", 8, 9, 10)
		for i := range 8 * 9 * 10 {
			data = append(data, byte(i*i/turn%4%3))
		}
		if err := os.WriteFile(path(name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sums := map[float64]bool{}
	for flags, row := range map[string]string{
		"": "all", "--labels 1": "1", "--labels 2 --connectivity 6": "2", "--labels 1,2": "all", "--group v=1,1": "v",
		"--labels 2 --group v=1": "all", "--group v=1 --group w=2": "all",
	} {
		args := append([]string{"assess", path("pred.npy"), path("truth.npy"), "-q", "--format", "csv", "--map", path("map.npy")},
			strings.Fields(flags)...)
		r := csv.NewReader(strings.NewReader(mustTell(t, args...)))
		r.Comment = '#'
		lines, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path("map.npy"))
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for b := data[len(data)-4*8*9*10:]; len(b) > 0; b = b[4:] {
			sum += float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
		for _, line := range lines { // connectivity 26 is before 6
			if line[0] != row {
				continue
			}
			pred, errP := strconv.ParseFloat(line[8], 64)
			truth, errT := strconv.ParseFloat(line[9], 64)
			if errP != nil || errT != nil || sum != pred-truth {
				t.Errorf("%q: the map sums to %v, want that of label %s, %v − %v", flags, sum, row, line[8], line[9])
			}
			sums[sum] = true
			break
		}
	}
	if len(sums) != 3 {
		t.Errorf("the sums are %v: want three different ones, to tell the labels apart", sums)
	}
}
