package files

import (
	"testing"

	"eccbench/datasets/files/format"
)

func TestDicomIsRefusedCheaply(t *testing.T) {
	for _, c := range append(damagedDicom(), damagedRLE()...) {
		checkRefusedCheaply(t, c.name, c.data, format.Options{}, c.want)
		checkAnyFile(t, "image.dcm", c.data)
	}
}

func FuzzDicom(f *testing.F) { fuzzFile(f, ".dcm") }
