package grid

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// Digest is the hash of an image's shape, type, ladder and bytes, 32 hex
// digits (XXH3, 128 bits). Golden values are keyed by it.
func Digest(s Source) (string, error) {
	h := xxh3.New()
	if _, err := fmt.Fprintf(h, "%v %v %s\n", s.Shape(), s.Type(), s.Ladder().Key()); err != nil {
		return "", err
	}
	err := EachSlab(s, func(slab []byte, _, _ int64) error {
		_, err := h.Write(slab)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo), nil
}

// A Digester is a source that hashes its slices as they are read: what was counted is
// what was hashed, and an image is not read once more for it.
type Digester struct {
	Source
	taken  []atomic.Bool
	slices []xxh3.Uint128
	done   atomic.Int64 // slices that are hashed
}

// NewDigester hashes a source. One that is in memory is hashed at once, on all cores, and
// should be read by itself.
func NewDigester(s Source) *Digester {
	d := &Digester{Source: s, taken: make([]atomic.Bool, s.Shape().Slices()), slices: make([]xxh3.Uint128, s.Shape().Slices())}
	if f, ok := s.(*Field); ok {
		parts := min(int64(runtime.GOMAXPROCS(0)), f.Shape().Slices())
		var wg sync.WaitGroup
		for p := range parts {
			n := f.Shape().Slices()
			wg.Go(func() { d.hash(f.Data(), 0, n*p/parts, n*(p+1)/parts) })
		}
		wg.Wait()
	}
	return d
}

// AloneBytes is the most that one core reads by itself, whose cache has it then. Larger reads are made by several.
const AloneBytes = 1 << 20

// ReadSlab reads slices lo ≤ i < hi, and hashes those that were not read before: some at a time, while the
// core that read them has them in its cache.
func (d *Digester) ReadSlab(dst []byte, lo, hi int64) error {
	size, step := SliceBytes(d.Source), hi-lo
	if !d.InBulk() {
		step = min(step, max(1, AloneBytes/size))
	}
	for ; lo < hi; lo += step {
		step = min(step, hi-lo)
		part := dst[:step*size]
		if err := d.Source.ReadSlab(part, lo, lo+step); err != nil {
			return err
		}
		d.hash(part, lo, lo, lo+step)
		dst = dst[step*size:]
	}
	return nil
}

// Dim is that of the source.
func (d *Digester) Dim() int { return Dim(d.Source) }

// InBulk is that of the source.
func (d *Digester) InBulk() bool { return InBulk(d.Source) }

// hash hashes slices lo ≤ i < hi of a slab that begins with slice first.
func (d *Digester) hash(slab []byte, first, lo, hi int64) {
	size := SliceBytes(d.Source)
	for i := lo; i < hi; i++ {
		if !d.taken[i].Swap(true) {
			d.slices[i] = xxh3.Hash128(slab[(i-first)*size : (i-first+1)*size])
			d.done.Add(1)
		}
	}
}

// Sum is the hash of the shape, the type and the hashes of all slices, 32 hex digits
// (XXH3, 128 bits). It is an error when slices have not been read.
func (d *Digester) Sum() (string, error) {
	if n := d.done.Load(); n < int64(len(d.slices)) {
		return "", fmt.Errorf("digest: %d of %d slices were read", n, len(d.slices))
	}
	hashes := make([]SliceHash, len(d.slices))
	for i := range hashes {
		hashes[i] = d.slices[i].Bytes()
	}
	return SumOf(d.Shape(), d.Type(), hashes), nil
}

// A SliceHash is the hash of a slice's bytes (XXH3, 128 bits).
type SliceHash [16]byte

// Slice is the hash of a slice, and whether that was read.
func (d *Digester) Slice(i int64) (h SliceHash, read bool) {
	return d.slices[i].Bytes(), d.taken[i].Load()
}

// SumOf is Sum of an image whose slices have these hashes.
func SumOf(shape Shape, t Type, slices []SliceHash) string {
	h := xxh3.New()
	fmt.Fprintf(h, "%v %v\n", shape, t)
	for _, s := range slices {
		h.Write(s[:])
	}
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}

// Close closes the source where that can be closed.
func (d *Digester) Close() error { return Close(d.Source) }

// Hash is the hash of bytes (XXH3, 64 bits).
func Hash(b []byte) uint64 { return xxh3.Hash(b) }

// Sum64 adds the 64-bit words of b, the last one filled up with zeros.
func Sum64(b []byte) uint64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for len(b) >= 64 {
		w := b[:64]
		s0 += binary.LittleEndian.Uint64(w)
		s1 += binary.LittleEndian.Uint64(w[8:])
		s2 += binary.LittleEndian.Uint64(w[16:])
		s3 += binary.LittleEndian.Uint64(w[24:])
		s4 += binary.LittleEndian.Uint64(w[32:])
		s5 += binary.LittleEndian.Uint64(w[40:])
		s6 += binary.LittleEndian.Uint64(w[48:])
		s7 += binary.LittleEndian.Uint64(w[56:])
		b = b[64:]
	}
	total := s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
	for len(b) > 0 {
		var word [8]byte
		b = b[copy(word[:], b):]
		total += binary.LittleEndian.Uint64(word[:])
	}
	return total
}
