package parts

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// Any bytes that are no part give an error, and a head alone allocates no memory.
func FuzzRead(f *testing.F) {
	for _, typ := range []grid.Type{grid.Uint8, grid.Float32} {
		l := grid.Identity(typ)
		files, _ := made(f, 2, typ, l, uint32(l.Len()/5), nil)
		b, err := os.ReadFile(files[1])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(bytes.Replace(b, []byte(`"4x3x9"`), []byte(`"4x3x999999999"`), 1))
	}
	f.Add([]byte(magic))
	f.Add(binary.LittleEndian.AppendUint32([]byte(magic), 1<<30))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "a.part")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := Open(path)
		if err != nil {
			return
		}
		steps := int64(0)
		if err := p.each(func(s []ecc.Step) error { steps += int64(len(s)); return nil }); err == nil && steps != p.Changes {
			t.Error(fmt.Errorf("%d steps of %d", steps, p.Changes))
		}
	})
}

// A thousand parts of 65,536 levels each.
func BenchmarkThousandParts(b *testing.B) {
	files, _ := made(b, 1000, grid.Uint16, grid.Identity(grid.Uint16), 1, nil)
	for b.Loop() {
		set, err := Load(files, 2)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range set.Steps() {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
