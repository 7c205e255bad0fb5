package files

import (
	"slices"
	"strings"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// writeFits returns a header of cards and data, each padded to whole blocks.
func writeFits(cards []string, data string) []byte {
	var text strings.Builder
	for _, c := range append(cards, "END") {
		text.WriteString(c + strings.Repeat(" ", 80-len(c)))
	}
	whole := func(s, fill string) string { return s + strings.Repeat(fill, (fitsBlock-len(s)%fitsBlock)%fitsBlock) }
	return []byte(whole(text.String(), " ") + whole(data, "\x00"))
}

// goodFits are the cards of an image of 3x2 voxels of uint8.
var goodFits = []string{"SIMPLE  =                    T / a comment", "BITPIX  =                    8", "NAXIS   =                    2", "NAXIS1  =                    3", "NAXIS2  = 2 / rows"}

// damagedFits returns FITS files without an image.
func damagedFits() (list []damagedFile) {
	add := func(what string, data []byte, want string) {
		list = append(list, damagedFile{what + ".fits", data, want})
	}
	for _, c := range []struct{ what, old, new, want string }{
		{"bits", "8", "12", "BITPIX 12"},
		{"no bits", "BITPIX", "BITPIY", "BITPIX 0"},
		{"text", "BITPIX  =                    8", "BITPIX  = 'eight   '", `BITPIX is "eight"`},
		{"twice", "BITPIX  =                    8", "NAXIS2  = 2", "NAXIS2 occurs twice"},
		{"no axis", "NAXIS2", "NAXIS3", "NAXIS2 is missing"},
		{"negative", "= 2 /", "= -2 /", "NAXIS2 is missing or negative"},
		{"zero", "= 2 /", "= 0 /", "at least 1"},
		{"axes", "                    2", "                 1000", "NAXIS 1000"},
		{"long", "= 2 /", "= 1000 /", "truncated: 2880 bytes of voxels where the header states 3000"},
		{"huge", "= 2 /", "= 1000000000000 /", "truncated: 2880 bytes"},
		{"beyond counting", "= 2 /", "= 9000000000000000000 /", "more voxels than can be counted"},
		{"four", "NAXIS   =                    2", "NAXIS   = 4 / and two more   ", "NAXIS3 is missing"},
		{"start", "SIMPLE", "SIMPLY", "not a FITS header"},
	} {
		text := strings.Join(goodFits, "\n")
		if strings.Count(text, c.old) != 1 {
			panic(c.old + " does not stand once in the header")
		}
		bad := writeFits(strings.Split(strings.Replace(text, c.old, c.new, 1), "\n"), "123456")
		add(c.what, bad, c.want)
	}
	for _, c := range []struct{ card, want string }{
		{"BSCALE  = 0", "BSCALE is 0"}, {"BZERO   = 1E999", "BZERO is"}, {"BSCALE  = 'x'", `BSCALE is "x"`},
		{"BLANK   = 49", "voxels have the value of FITS keyword BLANK"}, {"ZIMAGE  = T", "funpack"}, {"GROUPS  = T", "no image"},
	} {
		add(c.card, writeFits(append(slices.Clone(goodFits), c.card), "123456"), c.want)
	}
	add("image", writeFits(goodFits, "")[:fitsBlock], "truncated: 0 bytes")
	open := writeFits(goodFits, "123456")[:fitsBlock]
	add("image", []byte(strings.Replace(string(open), "END", "EMD", 1)), "no card END")
	primary := []string{"SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0"}
	table := []string{"XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2"}
	for _, c := range []struct{ card, want string }{
		{"", "no image"}, {"PCOUNT  = -1", "PCOUNT is -1"}, {"GCOUNT  = -1", "GCOUNT is -1"}, {"GCOUNT  = 1000000000000000000", "GCOUNT is 1"},
		{"PCOUNT  = 100000", "truncated: 2880 bytes follow a header that states 100006"}, {"NAXIS9  = x", "no image"},
	} {
		bad := append(writeFits(primary, ""), writeFits(append(append([]string{}, table...), c.card), "123456")...)
		add("table", bad, c.want)
	}
	// Nothing follows a table that fills its block.
	add("full", append(writeFits(primary, ""), writeFits(append(slices.Clone(table[:4]), "NAXIS2  = 960"), strings.Repeat("x", fitsBlock))...), "no image")
	return list
}

// refusesFits checks that damaged files are rejected with the reason, and that any number of blocks
// before an image is skipped.
func refusesFits(t *testing.T) {
	refusesDamaged(t, damagedFits())
	image := append([]string{"XTENSION= 'IMAGE   '"}, goodFits[1:]...)
	for _, c := range []struct {
		bits   string
		cards  []string // the first ones of NAXIS
		blocks int64
	}{
		{"8", []string{"NAXIS   = 0", "PCOUNT  = 9000"}, 0},
		{"8", []string{"NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 0"}, 0},
		{"8", []string{"NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 0", "PCOUNT  = 1"}, 1},
		{"8", []string{"NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 960"}, 1},
		{"8", []string{"NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 961"}, 2},
		{"8", []string{"NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2", "PCOUNT  = 2874"}, 1},
		{"8", []string{"NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2", "PCOUNT  = 2875"}, 2},
		{"16", []string{"NAXIS   = 2", "NAXIS1  = 40", "NAXIS2  = 36"}, 1},
		{"-64", []string{"NAXIS   = 1", "NAXIS1  = 361"}, 2},
		{"-32", []string{"NAXIS   = 2", "GROUPS  = T", "NAXIS1  = 0", "NAXIS2  = 10", "PCOUNT  = 2", "GCOUNT  = 60"}, 1},
		{"-32", []string{"NAXIS   = 2", "GROUPS  = T", "NAXIS1  = 0", "NAXIS2  = 10", "PCOUNT  = 2", "GCOUNT  = 61"}, 2},
	} {
		data := writeFits([]string{"SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0"}, "")
		data = append(data, writeFits(append([]string{"XTENSION= 'OTHER   '", "BITPIX  = " + c.bits}, c.cards...), strings.Repeat("x", int(c.blocks*fitsBlock)))...)
		data = append(data, writeFits(image, "\x01\x02\x03\x04\x05\x06")...)
		s, err := openFileBytes("image.fits", data, format.Options{})
		if err != nil {
			t.Errorf("behind %s of %s bits: %v", c.cards, c.bits, err)
			continue
		}
		checkFileImage(t, s, "3x2", grid.Uint8, linear(1, 1))
	}
}
