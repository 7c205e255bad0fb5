//go:build unix

package main

import (
	"encoding/binary"
	"encoding/csv"
	"io"
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

// Binary masks are packed as they are read, except of compressed files: every output of both is the same.
func TestPackedMasks(t *testing.T) {
	folder := t.TempDir()
	for name, turn := range map[string]int{"pred.nii": 3, "truth.nii": 7} {
		header, err := headers.Nifti{Kind: "u1", Shape: []int64{70, 9, 8},
			Place: &headers.Place{Affine: [3][4]float64{{1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 3, 0}}}}.Header()
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"", ".gz"} {
			f, err := os.Create(filepath.Join(folder, name+end))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := headers.Write(f, ".nii"+end, header, func(w io.Writer) error {
				data := make([]byte, 70*9*8)
				for i := range data {
					data[i] = byte(i * i / turn % 4 % 2 * 5)
				}
				_, err := w.Write(data)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	outputs := func(end string) (list []string) {
		path := func(name string) string { return filepath.Join(folder, name) }
		list = append(list, mustTell(t, "assess", path("pred.nii"+end), path("truth.nii"+end), "-q", "--format", "csv",
			"--patch", "5", "--errors", path("errors.csv"), "--map", path("map.npy"), "--plot", path("plot.svg")))
		for _, name := range []string{"errors.csv", "map.npy", "plot.svg"} {
			data, err := os.ReadFile(path(name))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, string(data))
		}
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], ".nii.gz", ".nii")
		}
		return list
	}
	want := outputs(".gz")
	for i, got := range outputs("") {
		if got != want[i] {
			t.Errorf("output %d: %.2000q, want %.2000q", i, got, want[i])
		}
	}
	if !strings.Contains(want[0], "surface_pred_mm2") || !strings.Contains(want[1], "\n5,26,") {
		t.Errorf("no surfaces or errors: %.500q, %.500q", want[0], want[1])
	}
}

// Labels of 64 bits have all digits, in files and in flags.
func TestLargeLabels(t *testing.T) {
	folder := t.TempDir()
	list := []uint64{1<<53 + 1, 0, 1<<53 + 2, 1<<53 + 3, math.MaxUint64, math.MaxUint64 - 1}
	data := headers.Npy("u8", 2, 3)
	for _, v := range list {
		data = binary.LittleEndian.AppendUint64(data, v)
	}
	path := filepath.Join(folder, "labels.npy")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	rows := func(flags ...string) (labels string) {
		out := mustTell(t, append([]string{"assess", path, path, "-q", "--format", "csv", "--connectivity", "8"}, flags...)...)
		for line := range strings.Lines(out) {
			if fields := strings.Split(line, ","); len(fields) > 4 && fields[1] == "8" {
				labels += fields[0] + ":" + fields[2] + " "
			}
		}
		return labels
	}
	want := "9007199254740993:1 9007199254740994:1 9007199254740995:1 18446744073709551614:1 18446744073709551615:1 all:5 "
	if got := rows(); got != want {
		t.Errorf("labels %s, want %s", got, want)
	}
	want = "18446744073709551615:1 9007199254740993:1 all:5 v:2 "
	if got := rows("--labels", "18446744073709551615,9007199254740993", "--group", "v=9007199254740995,9007199254740994,9007199254740996"); got != want {
		t.Errorf("chosen labels %s, want %s", got, want)
	}
}
