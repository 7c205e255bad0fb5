package morse

import "math/bits"

// digitBits are the bits of a digit of sortFrom.
const digitBits = 11

// sortFrom sorts numbers by their bits from one on, and keeps the order of numbers with equal bits. Digits in
// which all numbers agree cost one comparison.
func sortFrom(list []uint64, from uint) []uint64 {
	differ := uint64(0)
	for _, v := range list {
		differ |= v ^ list[0]
	}
	spare := make([]uint64, len(list))
	for at := from; int(at) < bits.Len64(differ); at += digitBits {
		if differ>>at&(1<<digitBits-1) == 0 {
			continue
		}
		var starts [1 << digitBits]int
		for _, v := range list {
			starts[v>>at&(1<<digitBits-1)]++
		}
		sum := 0
		for i, n := range starts {
			starts[i], sum = sum, sum+n
		}
		for _, v := range list {
			to := &starts[v>>at&(1<<digitBits-1)]
			spare[*to] = v
			*to++
		}
		list, spare = spare, list
	}
	return list
}
