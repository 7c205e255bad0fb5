package simplicial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/checktest"
)

// A mutated mesh file gives a valid complex or an error of one line. make fuzz-files runs very
// many.
func TestMutatedMeshes(t *testing.T) {
	var seeds []checktest.Seed
	for _, pattern := range []string{"testdata/*.*", "files/testdata/*.*"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			seeds = append(seeds, checktest.Seed{Name: name, Data: data})
		}
	}
	checktest.Mutated(t, 400, seeds, func(name string, data []byte) {
		c, err := read(data, strings.ToLower(filepath.Ext(name)))
		if err == nil {
			err = c.Check()
			if err != nil {
				t.Fatal(err)
			}
		} else if strings.Contains(err.Error(), "\n") {
			t.Fatalf("error is not one line: %q", err)
		}
	})
}
