package bench

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// The digest of an answer is SHA-256 of its bytes or of its pieces' digests, for writes of any
// length.
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
			h := &Digest{length: piece, piece: sha256.New()}
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
