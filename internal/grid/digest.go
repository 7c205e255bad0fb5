package grid

import (
	"encoding/binary"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// A Digester is a source that hashes its slices as they are read. The hash then covers the very
// bytes that were counted, and needs no second pass over the image.
type Digester struct {
	Wrapped
	taken  []atomic.Bool
	slices []xxh3.Uint128
	done   atomic.Int64 // number of hashed slices
}

// DigesterBytes returns the memory of a Digester.
func DigesterBytes(s Source) int64 { return (16 + 4) * s.Shape().Slices() }

// NewDigester wraps a source. It hashes a Field at once on all cores; read a Field directly rather
// than through the Digester.
func NewDigester(s Source) *Digester {
	d := &Digester{Wrapped: Wrapped{s}, taken: make([]atomic.Bool, s.Shape().Slices()),
		slices: make([]xxh3.Uint128, s.Shape().Slices())}
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

// AloneBytes is the largest read that one core makes, so that the bytes stay in its cache. Several
// cores share a larger read.
const AloneBytes = 1 << 20

// ReadSlab reads slices lo ≤ i < hi and hashes the slices that were not read before. It reads a few
// at a time, so that the core still has them in its cache when it hashes them.
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

// Sum returns the hash of the shape, the type, the hashes of all slices and the labels, as 32 hex digits (XXH3,
// 128 bits). It is an error if some slices have not been read.
func (d *Digester) Sum() (string, error) {
	if n := d.done.Load(); n < int64(len(d.slices)) {
		return "", fmt.Errorf("digest: %d of %d slices were read", n, len(d.slices))
	}
	return SumOf(d.Shape(), d.Type(), func(yield func(SliceHash) bool) {
		for _, s := range d.slices {
			if !yield(s.Bytes()) {
				return
			}
		}
		if labels := LabelsOf(d.Source); labels != nil {
			h := xxh3.New()
			h.WriteString(labels.Type())
			var b []byte
			for rank := range labels.Len() {
				b = labels.AppendBytes(b[:0], Ranked(rank))
				h.Write(b)
			}
			yield(h.Sum128().Bytes())
		}
	}), nil
}

// A SliceHash is the hash of a slice's bytes (XXH3, 128 bits).
type SliceHash [16]byte

// Slice returns the hash of a slice, or false if the slice has not been read.
func (d *Digester) Slice(i int64) (h SliceHash, read bool) {
	return d.slices[i].Bytes(), d.taken[i].Load()
}

// SumOf returns the Sum of an image from the hashes of its slices.
func SumOf(shape Shape, t Type, slices iter.Seq[SliceHash]) string {
	h := xxh3.New()
	fmt.Fprintf(h, "%v %v\n", shape, t)
	for s := range slices {
		h.Write(s[:])
	}
	sum := h.Sum128()
	return fmt.Sprintf("%016x%016x", sum.Hi, sum.Lo)
}

// Hash returns the hash of bytes (XXH3, 64 bits).
func Hash(b []byte) uint64 { return xxh3.Hash(b) }

// Sum64 adds the 64-bit words of b; zeros fill the last word.
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
