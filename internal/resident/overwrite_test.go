package resident_test

import (
	"bytes"
	"testing"

	"eccbench/internal/resident"
)

func TestOverwrite(t *testing.T) {
	for n := range 70 {
		all := bytes.Repeat([]byte{1}, 80)
		resident.Overwrite(all[5:5+n], 7)
		want := append(append(bytes.Repeat([]byte{1}, 5), bytes.Repeat([]byte{7}, n)...), bytes.Repeat([]byte{1}, 75-n)...)
		if !bytes.Equal(all, want) {
			t.Fatalf("%d bytes: %v", n, all)
		}
	}
}
