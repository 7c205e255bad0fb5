package runner

import (
	"bytes"
	"crypto/sha256"
	"math"
	"testing"

	"eccbench/internal/verify"
)

// However an answer is written, its digest is SHA-256 of it or of its pieces' digests.
func TestDigestIsOfPieces(t *testing.T) {
	const piece = 100
	all := make([]byte, 1001)
	for i := range all {
		all[i] = byte(i * i >> 3)
	}
	for _, n := range []int{0, 1, piece - 1, piece, piece + 1, 2 * piece, 2*piece + 1, 10 * piece, len(all)} {
		of := all[:n]
		want := sha256.Sum256(of)
		if n > piece {
			var sums []byte
			for at := 0; at < n; at += piece {
				sum := sha256.Sum256(of[at:min(n, at+piece)])
				sums = append(sums, sum[:]...)
			}
			want = sha256.Sum256(sums)
		}
		for _, each := range []int{1, 7, piece, piece + 1, 3*piece + 50, n + 1} {
			h := &hasher{length: piece, piece: sha256.New()}
			for at := 0; at < n; at += each {
				part := of[at:min(n, at+each)]
				if wrote, err := h.Write(part); wrote != len(part) || err != nil {
					t.Fatal(wrote, err)
				}
			}
			if got := h.sum(); !bytes.Equal(got, want[:]) {
				t.Errorf("%d bytes, %d at a time: %x, want %x", n, each, got, want)
			}
		}
	}
}

// What answers are apart counts as measured where they are held against an answer that was
// confirmed, not against the first.
func TestWeighing(t *testing.T) {
	list := []verify.Measure{{Name: "a", Value: 1, Limit: 4}, {Name: "b", Value: 1, Limit: 2}}
	for _, by := range []string{"", "a witness"} {
		g := &given[int]{by: by}
		if share := g.weigh(nil, list); share != 0.5 || g.diff != nil || g.beyond != 0 {
			t.Errorf("%q: a share of %v, %+v", by, share, g)
		}
		d := &verify.Diff{Where: "place 1"}
		if share := g.weigh(d, list); !math.IsInf(share, 1) {
			t.Errorf("%q: a difference within the limits is a share of %v", by, share)
		}
		if (by == "") != (len(g.measures) == 0) || (by == "") != (g.diff == nil) || (by == "") != (g.beyond == 0) {
			t.Errorf("%q: %+v", by, g)
		}
		list[1].Value = 3
		if share := g.weigh(d, list); share != 1.5 {
			t.Errorf("%q: a share of %v", by, share)
		}
		list[1].Value = 1
	}
}
