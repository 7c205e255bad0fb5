package assess

import "testing"

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
