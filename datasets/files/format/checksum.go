package format

import (
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"eccbench/datasets/storage"
)

// errChecksum reports that the bytes of an archive's member have changed.
var errChecksum = errors.New("the CRC-32 of the array is not that in the archive, which is damaged; copy it again")

// sliceSums checks the CRC-32 of a file's member while its slices are read, in any order.
type sliceSums struct {
	want uint32
	head uint32 // the sum of the bytes before the voxels

	mu    sync.Mutex
	sums  []uint32
	known []bool
	left  int64 // slices without a known sum
	err   error
}

// SumMember prepares the check for a body whose member is in. For one of several volumes, it checks
// at once.
func (b *Body) SumMember(in Input, want uint32) error {
	if b.Volumes.Count > 1 {
		sum := crc32.NewIEEE()
		if _, err := io.Copy(sum, io.NewSectionReader(in, 0, in.Size)); err != nil {
			return storage.Cause(err)
		}
		if sum.Sum32() != want {
			return errChecksum
		}
		return nil
	}
	head, err := in.Head(b.Offset)
	b.sum = &sliceSums{want: want, head: crc32.ChecksumIEEE(head)}
	return err
}

// add computes the sums of the whole slices in the voxels' bytes from an offset on. The last slice
// completes the check.
func (s *sliceSums) add(b *Body, data []byte, from int64) error {
	if s == nil {
		return nil
	}
	size := b.Shape.SliceVoxels() * b.Stored.Size()
	s.mu.Lock()
	if s.sums == nil { // the file's length bounds the number of slices by now
		s.left = b.Shape.Slices()
		s.sums, s.known = make([]uint32, s.left), make([]bool, s.left)
	}
	done := s.left == 0
	s.mu.Unlock()
	if done {
		return s.err
	}
	for i := (from + size - 1) / size; (i+1)*size <= from+int64(len(data)); i++ {
		s.mu.Lock()
		known := s.known[i]
		s.mu.Unlock()
		if known {
			continue
		}
		if err := s.put(i, crc32.ChecksumIEEE(data[i*size-from:(i+1)*size-from]), size); err != nil {
			return err
		}
	}
	return nil
}

// put keeps the sum of a slice of size bytes.
func (s *sliceSums) put(i int64, sum uint32, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[i] {
		return s.err
	}
	s.sums[i], s.known[i] = sum, true
	if s.left--; s.left > 0 {
		return nil
	}
	shift, all := crcShift(size), s.head
	for _, sum := range s.sums {
		all = crcMultiply(all, shift) ^ sum
	}
	if all != s.want {
		s.err = errChecksum
	}
	return s.err
}

// crcMultiply multiplies two polynomials over GF(2) modulo that of CRC-32. Bit 31 is the coefficient of 1.
func crcMultiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			product ^= b
		}
		carry := b & 1
		b = b>>1 ^ carry*crc32.IEEE
	}
	return product
}

// crcShift returns the factor for a sum when n bytes follow: x to the power of 8n.
func crcShift(n int64) uint32 {
	power := uint32(1) << 31
	for factor := uint32(1) << 23; n > 0; n >>= 1 { // x to the power of 8
		if n&1 != 0 {
			power = crcMultiply(power, factor)
		}
		factor = crcMultiply(factor, factor)
	}
	return power
}
