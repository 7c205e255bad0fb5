package datasets

import (
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// writeFits makes a header of cards and data, each filled up to whole blocks.
func writeFits(cards []string, data string) []byte {
	var text strings.Builder
	for _, c := range append(cards, "END") {
		text.WriteString(c + strings.Repeat(" ", 80-len(c)))
	}
	whole := func(s, fill string) string { return s + strings.Repeat(fill, (fitsBlock-len(s)%fitsBlock)%fitsBlock) }
	return []byte(whole(text.String(), " ") + whole(data, "\x00"))
}

func TestFitsErrors(t *testing.T) {
	good := []string{"SIMPLE  =                    T / a comment", "BITPIX  =                    8", "NAXIS   =                    2", "NAXIS1  =                    3", "NAXIS2  = 2 / rows"}
	checkFileImage(t, mustOpen(t, "image.fits", writeFits(good, "\x01\x02\x03\x04\x05\x06")), "3x2", grid.Uint8, linear(1, 1))
	for _, c := range []struct{ what, old, new, want string }{
		{"bits", "8", "12", "BITPIX 12"},
		{"no bits", "BITPIX", "BITPIY", "BITPIX 0"},
		{"text", "BITPIX  =                    8", "BITPIX  = 'eight   '", `BITPIX is "eight"`},
		{"twice", "BITPIX  =                    8", "NAXIS2  = 2", "NAXIS2 stands twice"},
		{"no axis", "NAXIS2", "NAXIS3", "NAXIS2 is missing"},
		{"negative", "= 2 /", "= -2 /", "NAXIS2 is missing or negative"},
		{"zero", "= 2 /", "= 0 /", "at least 1"},
		{"axes", "                    2", "                 1000", "NAXIS 1000"},
		{"long", "= 2 /", "= 1000 /", "truncated: 2880 bytes of voxels where the header says 3000"},
		{"huge", "= 2 /", "= 1000000000000 /", "truncated: 2880 bytes"},
		{"beyond counting", "= 2 /", "= 9000000000000000000 /", "more voxels than can be counted"},
		{"four", "NAXIS   =                    2", "NAXIS   = 4 / and two more   ", "NAXIS3 is missing"},
		{"start", "SIMPLE", "SIMPLY", "not a FITS header"},
	} {
		text := strings.Join(good, "\n")
		if strings.Count(text, c.old) != 1 {
			t.Fatalf("%s: %q does not stand once in the header", c.what, c.old)
		}
		bad := writeFits(strings.Split(strings.Replace(text, c.old, c.new, 1), "\n"), "123456")
		checkRefusedCheaply(t, c.what+".fits", bad, FileOptions{}, c.want)
		checkAnyFile(t, "image.fits", bad)
	}
	for _, c := range []struct{ card, want string }{
		{"BSCALE  = 0", "BSCALE is 0"}, {"BZERO   = 1E999", "BZERO is"}, {"BSCALE  = 'x'", `BSCALE is "x"`},
		{"BLANK   = 3", "BLANK says that voxels of 3"}, {"ZIMAGE  = T", "funpack"}, {"GROUPS  = T", "no image"},
		{"XTENSION= 'IMAGE   '", ""}, {"BZERO   = 1D1", ""},
	} {
		data := writeFits(append(append([]string{}, good...), c.card), "123456")
		checkAnyFile(t, "image.fits", data)
		if c.want != "" {
			checkRefusedCheaply(t, c.card, data, FileOptions{}, c.want)
		}
	}
	checkRefusedCheaply(t, "image.fits", append(writeFits(good, "123456"), make([]byte, fitsBlock/2)...), FileOptions{}, "no whole number of FITS blocks")
	checkRefusedCheaply(t, "image.fits", writeFits(good, "")[:fitsBlock], FileOptions{}, "truncated: 0 bytes")
	open := writeFits(good, "123456")[:fitsBlock]
	checkRefusedCheaply(t, "image.fits", []byte(strings.Replace(string(open), "END", "EMD", 1)), FileOptions{}, "no card END")
	primary := []string{"SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0"}
	table := []string{"XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2"}
	for _, c := range []struct{ card, want string }{
		{"", "no image"}, {"PCOUNT  = -1", "PCOUNT is -1"}, {"GCOUNT  = -1", "GCOUNT is -1"}, {"GCOUNT  = 1000000000000000000", "GCOUNT is 1"},
		{"PCOUNT  = 100000", "truncated: 2880 bytes follow a header that says 100006"}, {"NAXIS9  = x", "no image"},
	} {
		bad := append(writeFits(primary, ""), writeFits(append(append([]string{}, table...), c.card), "123456")...)
		checkRefusedCheaply(t, "table.fits", bad, FileOptions{}, c.want)
	}
}

func FuzzFits(f *testing.F) { fuzzFile(f, ".fits") }
