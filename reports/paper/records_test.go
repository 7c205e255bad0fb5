package paper

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/bench"
)

// runs is the folder of the recorded runs.
const runs = "../runs"

// Recorded runs are never edited. The SHA-256 of each file's uncompressed bytes must be that of
// SHA256SUMS, where it was entered when the file arrived.
func TestRecordsAreAsTheyWereRecorded(t *testing.T) {
	list, err := os.Open(filepath.Join(runs, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	want := map[string]string{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok || want[name] != "" {
			t.Fatalf("SHA256SUMS: %q", lines.Text())
		}
		want[name] = sum
	}
	files, err := filepath.Glob(filepath.Join(runs, "*.jsonl*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		plain, err := bench.Decompress(file)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		data, err := io.ReadAll(plain)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".zst")
		sum := sha256.Sum256(data)
		switch got := hex.EncodeToString(sum[:]); want[name] {
		case got:
		case "":
			t.Errorf("%s is not in SHA256SUMS: enter %s", name, got)
		default:
			t.Errorf("%s was changed: %s, recorded %s", name, got, want[name])
		}
		delete(want, name)
		if records, err := bench.ReadRecords(strings.NewReader(string(data))); err != nil || len(records.Cells) == 0 || records.Cut != 0 {
			t.Errorf("%s: %d cells, %d bytes cut off, %v", name, len(records.Cells), records.Cut, err)
		}
	}
	for name := range want {
		t.Errorf("%s is gone", name)
	}
}
