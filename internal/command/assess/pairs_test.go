package assess

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dice of whole numbers of voxels has equal differences that float64 rounds differently. They share their ranks: p is
// that of the ranks 1½, −1½, 3, 4, 5, where 6 of 32 choices of signs have a rank sum as far from the mean.
func TestTiesOfQuotients(t *testing.T) {
	var a, b []pairNumber
	for i, n := range [][2]float64{{8, 7}, {2, 3}, {9, 7}, {9, 6}, {10, 6}} {
		truth := string(rune('a' + i))
		a, b = append(a, pairNumber{truth, n[0] / 10}), append(b, pairNumber{truth, n[1] / 10})
	}
	if n, p := signedRank(a, b); n != 5 || p != 6./32 {
		t.Errorf("%d pairs, p = %v, want 5 and %v", n, p, 6./32)
	}
	// Equal numbers have no sign.
	for i := range a[1:] {
		a[i].value, b[i].value = 0.1+0.2, 0.3
	}
	if _, p := signedRank(a, b); p != 1 {
		t.Errorf("p = %v of one difference, want 1", p)
	}
	// Whole numbers are exact.
	for i := range a {
		a[i].value, b[i].value = float64(1<<30+i+1), 1<<30
	}
	if _, p := signedRank(a, b); p != 2./32 {
		t.Errorf("p = %v of five positive differences, want %v", p, 2./32)
	}
}

// Tests need two methods, and the reason for none names a pair without a method first.
func TestMethodsOfTests(t *testing.T) {
	for _, c := range []struct {
		methods []string
		want    string
	}{
		{[]string{"", ""}, ""}, {[]string{"a", "a"}, ""}, {[]string{"a", ""}, "some pairs have no method; name that of each"},
		{[]string{"", "b", "a"}, "some pairs have no method; name that of each"}, {[]string{"a", "b", "c"}, "3 methods; want two"},
	} {
		var list []assessed
		for _, m := range c.methods {
			list = append(list, assessed{method: m})
		}
		if _, _, got := summarise(list); got != c.want {
			t.Errorf("methods %q: %q, want %q", c.methods, got, c.want)
		}
	}
}

// Lines of spreadsheets that end otherwise, or have other columns, are rejected with the reason.
func TestPairsOfSpreadsheets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pairs.csv")
	for text, want := range map[string]string{
		"a,b\r\nc,d\r\n": "", "a,b,one\nc,d,two": "",
		"a,b\rc,d\r": "carriage returns", "a,b\rc,d\re,f\r": "carriage returns", "a,b,one\rc,d,two\r": "carriage returns",
		"a;b\nc;d\n": "semicolons", "a\tb\n": "semicolons", "a\n": "1 column: want", "a,b,c,d\n": "4 columns: want",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := pairsOfFile(path)
		if (err == nil) != (want == "") || err == nil && len(list) != 2 || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, list, err, want)
		}
	}
}
