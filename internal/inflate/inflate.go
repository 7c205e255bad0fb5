// Package inflate decompresses DEFLATE data (RFC 1951). Most symbols of a compressed image are
// literals, so an entry of its tables decodes up to two of them at once.
package inflate

import (
	"bufio"
	"compress/flate"
	"encoding/binary"
	"io"
)

const (
	window = 32 << 10         // the greatest distance
	size   = window + 128<<10 // bytes of the output buffer
	slack  = 5*2 + 258 + 7    // most bytes that one iteration of decode writes
	ahead  = 2 * 8            // most bytes that one iteration of decode reads
)

// A Reader decompresses one DEFLATE stream.
type Reader struct {
	source *bufio.Reader
	read   int64 // bytes of the source so far
	bits   uint64
	have   uint // number of the bits that were read and not decoded

	out      [size]byte
	from, to int // out[from:to] was not returned yet

	last    bool // the current block is the last
	coded   bool // it has symbols left
	stored  int  // it has this many bytes left
	err     error
	literal code // literals and lengths
	offset  code // distances
}

// NewReader makes a reader. It reads no byte of the source after the end of the stream.
func NewReader(source *bufio.Reader) *Reader { return &Reader{source: source} }

// Reset starts the next stream of the same source.
func (r *Reader) Reset() {
	r.bits, r.have, r.from, r.to, r.last, r.coded, r.stored, r.err = 0, 0, 0, 0, false, false, 0, nil
}

// Read reads decompressed bytes. Invalid data are a flate.CorruptInputError.
func (r *Reader) Read(dst []byte) (int, error) {
	for r.from == r.to && r.err == nil {
		if r.to > size/2 {
			copy(r.out[:window], r.out[r.to-window:r.to])
			r.from, r.to = window, window
		}
		r.err = r.fill()
	}
	n := copy(dst, r.out[r.from:r.to])
	if r.from += n; r.from < r.to || n > 0 {
		return n, nil
	}
	return 0, r.err
}

// fill decodes the header of a block, or some of its bytes.
func (r *Reader) fill() error {
	switch {
	case r.coded:
		for r.coded && r.to <= size-slack {
			if err := r.decodeSymbols(); err != nil {
				return err
			}
		}
		return nil
	case r.stored > 0:
		n, err := r.source.Read(r.out[r.to:min(size, r.to+r.stored)])
		r.to, r.stored, r.read = r.to+n, r.stored-n, r.read+int64(n)
		return unexpected(err)
	case r.last:
		return io.EOF
	}
	return r.header()
}

// decodeSymbols decodes one or more symbols.
func (r *Reader) decodeSymbols() error {
	if _, err := r.source.Peek(ahead); err != nil {
		return r.symbol()
	}
	in, err := r.source.Peek(r.source.Buffered())
	if err != nil {
		return err
	}
	n, err := r.decode(in)
	n -= int(r.have >> 3)
	r.have &= 7
	r.bits &= 1<<r.have - 1
	r.read += int64(n)
	if _, err := r.source.Discard(n); err != nil {
		return err
	}
	return err
}

// decode decodes symbols until the block, the input or the room for output ends. It returns the
// number of bytes read into the bit buffer.
func (r *Reader) decode(in []byte) (pos int, err error) {
	bits, have, to, out := r.bits, r.have, r.to, r.out[:]
	literal, offset := &r.literal.table, &r.offset.table
	for err == nil && pos <= len(in)-ahead && to <= size-slack {
		bits, have, pos = refill(bits, have, in, pos)
		e := literal[bits&(1<<literalBits-1)]
		for range 4 {
			if e&special != 0 {
				break
			}
			binary.LittleEndian.PutUint16(out[to:], uint16(e>>8))
			to += int(e >> 5 & 3)
			bits >>= e & 31
			have -= uint(e & 31)
			e = literal[bits&(1<<literalBits-1)]
		}
		bits, have, pos = refill(bits, have, in, pos)
		if e == special {
			if e = r.literal.long(bits, literals[:]); e == 0 {
				err = r.corrupt()
			}
		}
		if e&special == 0 {
			binary.LittleEndian.PutUint16(out[to:], uint16(e>>8))
			to += int(e >> 5 & 3)
			bits >>= e & 31
			have -= uint(e & 31)
			continue
		}
		length, n := e.value(bits)
		bits >>= n & 63
		have -= n
		if length == 0 {
			r.coded = false
			break
		}
		e = offset[bits&(1<<offsetBits-1)]
		if e == special {
			e = r.offset.long(bits, offsets[:])
		}
		distance, n := e.value(bits)
		bits >>= n & 63
		have -= n
		if distance == 0 || distance > to {
			err = r.corrupt()
			break
		}
		to = repeat(out, to, distance, length)
	}
	r.bits, r.have, r.to = bits, have, to
	return pos, err
}

// refill adds whole bytes to the bit buffer, until it has at least 56 bits.
func refill(bits uint64, have uint, in []byte, pos int) (uint64, uint, int) {
	bits |= binary.LittleEndian.Uint64(in[pos:]) << (have & 63)
	return bits, have | 56, pos + int(63-have)>>3
}

// repeat appends length bytes from a distance back to out[:to]. It may write 7 bytes more.
func repeat(out []byte, to, distance, length int) int {
	from, end := to-distance, to+length
	if distance < 8 {
		for to < end {
			to += copy(out[to:end], out[from:to])
		}
		return end
	}
	for ; to < end; from, to = from+8, to+8 {
		binary.LittleEndian.PutUint64(out[to:], binary.LittleEndian.Uint64(out[from:]))
	}
	return end
}

// symbol decodes one symbol near the end of the source.
func (r *Reader) symbol() error {
	e, err := r.next(&r.literal, literals[:])
	if err != nil {
		return err
	}
	if e&special == 0 {
		r.out[r.to] = byte(e >> 8)
		r.to++
		return nil
	}
	length, err := r.extra(e)
	if err != nil {
		return err
	}
	if length == 0 {
		r.coded = false
		return nil
	}
	if e, err = r.next(&r.offset, offsets[:]); err != nil {
		return err
	}
	distance, err := r.extra(e)
	if err != nil {
		return err
	}
	if distance > r.to {
		return r.corrupt()
	}
	r.to = repeat(r.out[:], r.to, distance, length)
	return nil
}

// next decodes a symbol, and reads no byte after it. It returns the symbol's entry.
func (r *Reader) next(c *code, entries []entry) (entry, error) {
	for {
		symbol, n := c.find(r.bits, r.have)
		if n > 0 {
			_, err := r.take(n)
			if err == nil && entries[symbol] == 0 {
				err = r.corrupt()
			}
			return entries[symbol], err
		}
		if r.have >= maxBits {
			return 0, r.corrupt()
		}
		if err := r.readByte(); err != nil {
			return 0, err
		}
	}
}

// extra returns the value of an entry and its extra bits.
func (r *Reader) extra(e entry) (int, error) {
	n, err := r.take(uint(e >> 24))
	return int(e>>8&0xffff) + n, err
}

// take returns the next n bits.
func (r *Reader) take(n uint) (int, error) {
	for r.have < n {
		if err := r.readByte(); err != nil {
			return 0, err
		}
	}
	v := r.bits & (1<<n - 1)
	r.bits >>= n
	r.have -= n
	return int(v), nil
}

// readByte reads a byte into the bit buffer.
func (r *Reader) readByte() error {
	b, err := r.source.ReadByte()
	if err != nil {
		return unexpected(err)
	}
	r.bits |= uint64(b) << r.have
	r.have += 8
	r.read++
	return nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *Reader) corrupt() error { return flate.CorruptInputError(r.read) }
