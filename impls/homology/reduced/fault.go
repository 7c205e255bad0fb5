package reduced

import "slices"

// A Fault is a known defect. Tests plant it to show that the harness detects it.
type Fault string

// The faults are typical mistakes in implementations of this kind.
const (
	SignsForgotten Fault = "signs forgotten"            // all incidences are 1, which is right only over Z/2
	UnitsOnly      Fault = "pivots that are units only" // the remaining matrix counts as 0
	NotDividing    Fault = "no invariant factors"       // orders as the elimination leaves them
	OnePass        Fault = "one pass of divisors"       // only neighbours are made to divide each other
	OddDropped     Fault = "odd orders dropped"
	PowersDropped  Fault = "powers of primes dropped" // 4 and 9 become 2 and 3
)

// Faults lists every fault.
func Faults() []Fault {
	return []Fault{SignsForgotten, UnitsOnly, NotDividing, OnePass, OddDropped, PowersDropped}
}

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }

// before plants a fault in the orders from the elimination.
func (f Fault) before(orders []uint64) []uint64 {
	if f != OddDropped {
		return orders
	}
	return slices.DeleteFunc(orders, func(v uint64) bool { return v%2 == 1 })
}

// after plants a fault in the invariant factors.
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
