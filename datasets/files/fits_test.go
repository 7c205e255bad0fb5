package files

import (
	"slices"
	"testing"

	"eccbench/datasets/files/format"
)

func TestFitsIsRefusedCheaply(t *testing.T) {
	for _, c := range damagedFits() {
		checkRefusedCheaply(t, c.name, c.data, format.Options{}, c.want)
		checkAnyFile(t, "image.fits", c.data)
	}
	for _, card := range []string{"XTENSION= 'IMAGE   '", "BZERO   = 1D1"} {
		checkAnyFile(t, "image.fits", writeFits(append(slices.Clone(goodFits), card), "123456"))
	}
}

func FuzzFits(f *testing.F) { fuzzFile(f, ".fits") }
