// Package decimal formats numbers as strconv does, and faster. It parses numbers of users and files.
package decimal

import (
	"math"
	"strconv"
	"strings"
)

// ParseFloat parses a number as strconv does, but rejects underscores between digits and hexadecimal numbers.
func ParseFloat(s string, bits int) (float64, error) {
	if strings.ContainsAny(s, "_xX") {
		return 0, &strconv.NumError{Func: "ParseFloat", Num: s, Err: strconv.ErrSyntax}
	}
	return strconv.ParseFloat(s, bits)
}

// powers are powers of ten.
var powers = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11}

// AppendFloat32 appends the fewest digits that read back as v, as strconv does for format 'g'. It is
// faster from 2⁻¹³ to 2¹⁹, where integers of 64 bits are exact.
func AppendFloat32(b []byte, v float32) []byte {
	pattern := math.Float32bits(v)
	m, down := uint64(pattern&(1<<23-1)|1<<23), uint(151-int(pattern>>23&255))
	if down < 6 || down > 37 || m == 1<<23 {
		return strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	// |v| is 2m/2^down. The decimals between (2m−1)/2^down and (2m+1)/2^down read back as v. Neither end
	// has as few decimals as are tried here: it has down of them.
	decimals := int(down-1)*1233>>12 + 1 // (down−1)·log₁₀2, rounded up
	half, mask := powers[decimals], uint64(1)<<down-1
	n := 2 * m * half
	lo, hi := (n-half+mask)>>down, (n+half)>>down
	last, rest := n>>(down-1)&1*5, n&(mask>>1) // the first digit after those of n, and whether others follow
	n >>= down
	for decimals > 0 && (lo+9)/10 <= hi/10 {
		lo, hi, decimals = (lo+9)/10, hi/10, decimals-1
		rest |= last
		n, last = n/10, n%10
	}
	if last > 5 || last == 5 && (rest > 0 || n&1 == 1) {
		n++
	}
	if v < 0 {
		b = append(b, '-')
	}
	return appendDecimal(b, n, decimals)
}

// AppendInt appends an integer, as strconv does, and faster.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	if uint64(n) < 10 {
		return append(b, byte('0'+n))
	}
	return appendDecimal(b, uint64(n), 0)
}

// pairs are the numbers below 100 in two digits.
var pairs = func() (list [100][2]byte) {
	for i := range list {
		list[i] = [2]byte{byte('0' + i/10), byte('0' + i%10)}
	}
	return list
}()

// appendDecimal appends n/10^decimals for n > 0.
func appendDecimal(b []byte, n uint64, decimals int) []byte {
	var digits [24]byte
	i := len(digits)
	if decimals > 0 {
		if decimals&1 > 0 {
			i--
			digits[i], n = byte('0'+n%10), n/10
		}
		for range decimals >> 1 {
			i -= 2
			*(*[2]byte)(digits[i:]), n = pairs[n%100], n/100
		}
		i--
		digits[i] = '.'
	}
	for ; n >= 10; n /= 100 {
		i -= 2
		*(*[2]byte)(digits[i:]) = pairs[n%100]
	}
	if n > 0 || digits[i] == '.' {
		i--
		digits[i] = byte('0' + n)
	}
	return append(b, digits[i:]...)
}
