package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"runtime"

	"eccbench/internal/crew"
)

// pieceBytes is the size of the blocks that are hashed separately.
const pieceBytes = 32 << 20

// A Digest is the digest of an encoded answer, which Write receives: SHA-256 for at most one piece. For
// longer data it hashes the digests of the pieces, which all cores compute in parallel.
type Digest struct {
	length int       // of a piece, in bytes
	piece  hash.Hash // the current, incomplete piece
	has    int       // bytes in it
	sums   []byte    // digests of the complete pieces
}

// NewDigest returns the digest of no bytes.
func NewDigest() *Digest { return &Digest{length: pieceBytes, piece: sha256.New()} }

// Write hashes complete pieces in parallel, and the rest in order.
func (d *Digest) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if d.has == d.length {
			d.sums = d.piece.Sum(d.sums)
			d.piece.Reset()
			d.has = 0
		}
		if d.has == 0 && len(b) > d.length {
			whole := (len(b) - 1) / d.length // the last piece stays open, as it may be the end
			at := len(d.sums)
			d.sums = append(d.sums, make([]byte, whole*sha256.Size)...)
			crew.InTurn(runtime.GOMAXPROCS(0), whole, func(_, i int) {
				sum := sha256.Sum256(b[i*d.length:][:d.length])
				copy(d.sums[at+i*sha256.Size:], sum[:])
			})
			b = b[whole*d.length:]
		}
		part := b[:min(len(b), d.length-d.has)]
		d.piece.Write(part) // never fails
		d.has += len(part)
		b = b[len(part):]
	}
	return n, nil
}

// String returns the first half of the digest in hexadecimal digits.
func (d *Digest) String() string { return hex.EncodeToString(d.sum()[:sha256.Size/2]) }

func (d *Digest) sum() []byte {
	if len(d.sums) == 0 {
		return d.piece.Sum(nil)
	}
	sum := sha256.Sum256(d.piece.Sum(d.sums))
	return sum[:]
}
