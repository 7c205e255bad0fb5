package inflate

import "math/bits"

const (
	maxBits     = 15 // the longest code word
	literalBits = 11 // bits that index the table of literals and lengths
	offsetBits  = 9  // of distances
)

// An entry is a decoded symbol:
//
//	bits 0–4   bits of the code words
//	bits 5–6   number of literals, 1 or 2
//	bit 7      special: not a literal
//	bits 8–23  the literals, or the base of a length or distance; 0 is the end of the block
//	bits 24–   number of extra bits
//
// An entry that is special and nothing else is a code word longer than the table's index, or none.
type entry uint32

const special entry = 1 << 7

// literals and offsets are the entries by symbol, without their bits of code words. The entry of an
// invalid symbol is 0.
var (
	literals [288]entry
	offsets  [32]entry
	plain    [19]entry // lengths of code words
)

func init() {
	for i := range 256 {
		literals[i] = entry(i)<<8 | 1<<5
	}
	literals[256] = special
	base := 3
	for i := range 28 {
		extra := max(0, i/4-1)
		literals[257+i] = entry(base)<<8 | entry(extra)<<24 | special
		base += 1 << extra
	}
	literals[285] = 258<<8 | special
	base = 1
	for i := range 30 {
		extra := max(0, i/2-1)
		offsets[i] = entry(base)<<8 | entry(extra)<<24 | special
		base += 1 << extra
	}
	for i := range plain {
		plain[i] = entry(i)<<8 | special
	}
}

// value returns the length or distance of an entry, with its extra bits, and all its bits.
func (e entry) value(bits uint64) (v int, n uint) {
	n, extra := uint(e&31), uint(e>>24)
	return int(e>>8&0xffff) + int(bits>>n&(1<<(extra&31)-1)), n + extra
}

// A code is a Huffman code.
type code struct {
	table   [1 << literalBits]entry // by the next bits of the source
	count   [maxBits + 1]int        // symbols by length of their code words
	symbols [288]uint16             // in the order of their code words
}

// set makes a code of the lengths of its code words by symbol. It returns false for a code that is
// ambiguous, or incomplete and not of one word.
func (c *code) set(lengths []uint8) bool {
	c.count = [maxBits + 1]int{}
	for _, n := range lengths {
		c.count[n]++
	}
	c.count[0] = 0
	var next [maxBits + 2]int
	left := 1
	for n := 1; n <= maxBits; n++ {
		next[n+1] = next[n] + c.count[n]
		if left = left<<1 - c.count[n]; left < 0 {
			return false
		}
	}
	for symbol, n := range lengths {
		if n > 0 {
			c.symbols[next[n]] = uint16(symbol)
			next[n]++
		}
	}
	used := next[maxBits]
	return left == 0 || used == 0 || used == 1 && c.count[1] == 1
}

// tabulate fills the table, whose index has width bits.
func (c *code) tabulate(width int, entries []entry) {
	table := c.table[:1<<width]
	for i := range table {
		table[i] = special
	}
	word, index := 0, 0
	for n := 1; n <= width; n++ {
		for range c.count[n] {
			e := entries[c.symbols[index]]
			for i := int(bits.Reverse16(uint16(word)) >> (16 - n)); e != 0 && i < len(table); i += 1 << n {
				table[i] = e | entry(n)
			}
			word, index = word+1, index+1
		}
		word <<= 1
	}
}

// pair joins entries of single literals to entries of two. It runs backwards because an entry is made from entries of
// lower index, which must not be pairs yet.
func (c *code) pair() {
	for i := len(c.table) - 1; i >= 0; i-- {
		a := c.table[i]
		b := c.table[i>>(a&31)]
		if n := a&31 + b&31; a&special == 0 && b&special == 0 && n <= literalBits {
			c.table[i] = b&0xff00<<8 | a&0xff00 | 2<<5 | n
		}
	}
}

// find returns the first symbol of some bits, and the bits of its code word: 0 if there is none.
func (c *code) find(bits uint64, have uint) (symbol uint16, n uint) {
	word, first, index := 0, 0, 0
	for n = 1; n <= min(maxBits, have); n++ {
		word |= int(bits & 1)
		bits >>= 1
		if word-first < c.count[n] {
			return c.symbols[index+word-first], n
		}
		index += c.count[n]
		first = (first + c.count[n]) << 1
		word <<= 1
	}
	return 0, 0
}

// long is the entry of a symbol that the table lacks, 0 if it is invalid.
func (c *code) long(bits uint64, entries []entry) entry {
	symbol, n := c.find(bits, maxBits)
	if n == 0 || entries[symbol] == 0 {
		return 0
	}
	return entries[symbol] | entry(n)
}

// order is the order of the lengths of the code for lengths.
var order = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// header decodes the header of a block.
func (r *Reader) header() error {
	v, err := r.take(3)
	if err != nil {
		return err
	}
	r.last = v&1 != 0
	var lengths [288 + 32]uint8
	at := 288
	switch v >> 1 {
	case 0:
		r.bits, r.have = 0, 0
		n, err := r.take(32)
		if err == nil && n&0xffff != ^n>>16&0xffff {
			err = r.corrupt()
		}
		r.stored = n & 0xffff
		return err
	case 1:
		for i := range lengths {
			switch {
			case i < 144 || i >= 280 && i < 288:
				lengths[i] = 8
			case i < 256:
				lengths[i] = 9
			case i < 280:
				lengths[i] = 7
			default:
				lengths[i] = 5
			}
		}
	case 2:
		var n int
		if at, n, err = r.lengths(&lengths); err != nil {
			return err
		}
		clear(lengths[n:])
	default:
		return r.corrupt()
	}
	if !r.literal.set(lengths[:at]) || !r.offset.set(lengths[at:min(len(lengths), at+32)]) {
		return r.corrupt()
	}
	r.literal.tabulate(literalBits, literals[:])
	r.literal.pair()
	r.offset.tabulate(offsetBits, offsets[:])
	r.coded = true
	return nil
}

// lengths decodes the lengths of all code words: those from at on, below n, are of distances.
func (r *Reader) lengths(dst *[288 + 32]uint8) (at, n int, err error) {
	v, err := r.take(14)
	if err != nil {
		return 0, 0, err
	}
	at = v&31 + 257
	n = at + v>>5&31 + 1
	if at > 286 || n-at > 30 {
		return 0, 0, r.corrupt()
	}
	var own [len(order)]uint8
	for _, i := range order[:v>>10+4] {
		l, err := r.take(3)
		if err != nil {
			return 0, 0, err
		}
		own[i] = uint8(l)
	}
	if !r.offset.set(own[:]) {
		return 0, 0, r.corrupt()
	}
	for i := 0; i < n; {
		e, err := r.next(&r.offset, plain[:])
		if err != nil {
			return 0, 0, err
		}
		length, times := uint8(e>>8), 1
		if length >= 16 {
			kind := length - 16
			if times, err = r.take([...]uint{2, 3, 7}[kind]); err != nil {
				return 0, 0, err
			}
			times += [...]int{3, 3, 11}[kind]
			if length = 0; kind == 0 {
				if i == 0 {
					return 0, 0, r.corrupt()
				}
				length = dst[i-1]
			}
		}
		if times > n-i {
			return 0, 0, r.corrupt()
		}
		for range times {
			dst[i] = length
			i++
		}
	}
	return at, n, nil
}
