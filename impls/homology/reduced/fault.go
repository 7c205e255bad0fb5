package reduced

import "slices"

// A Fault is a known defect that can be planted in the implementation, so that tests of the
// harness can show that it is caught. Nothing but tests plants one.
type Fault string

// The faults. Each is a slip that an implementation of this kind has seen.
const (
	SignsForgotten Fault = "signs forgotten"            // all incidences are 1, which is right over Z/2 alone
	UnitsOnly      Fault = "pivots that are units only" // what they leave over counts as 0
	NotDividing    Fault = "no invariant factors"       // orders as the elimination leaves them
	OnePass        Fault = "one pass of divisors"       // of neighbours alone, so that orders may not divide
	OddDropped     Fault = "odd orders dropped"
	PowersDropped  Fault = "powers of primes dropped" // 4 and 9 become 2 and 3
)

// Faults lists every fault.
func Faults() []Fault {
	return []Fault{SignsForgotten, UnitsOnly, NotDividing, OnePass, OddDropped, PowersDropped}
}

// Faulty is the implementation with a fault planted.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }

// before plants what is wrong with orders as the elimination leaves them.
func (f Fault) before(orders []uint64) []uint64 {
	if f != OddDropped {
		return orders
	}
	return slices.DeleteFunc(orders, func(v uint64) bool { return v%2 == 1 })
}

// after plants what is wrong with orders that divide each other.
func (f Fault) after(orders []uint64) []uint64 {
	switch {
	case f == OnePass && len(orders) > 1: // as if the divisor of the first two had not met the others
		if g := orders[0]; g%2 == 0 && orders[1]%3 == 0 {
			return slices.Concat([]uint64{g / 2 * 3}, []uint64{orders[1] / 3 * 2}, orders[2:])
		}
	case f == PowersDropped:
		for i, v := range orders {
			for p := uint64(2); p*p <= v; p++ {
				for v%(p*p) == 0 {
					v /= p
				}
			}
			orders[i] = v
		}
	}
	return orders
}
