package memfile

import (
	"os"
	"path/filepath"
	"testing"
)

// A file is mapped whole. An empty file, which cannot be mapped, gives no bytes.
func TestFilesAreMappedWhole(t *testing.T) {
	for _, text := range []string{"", "a", "ab"} {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := MapWhole(f)
		if err != nil || string(b) != text {
			t.Errorf("%q is mapped as %q, %v", text, b, err)
		}
		Unmap(b)
	}
}
