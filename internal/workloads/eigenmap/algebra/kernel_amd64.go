//go:build amd64 && !noasm

package algebra

// assembled reports whether this program has vector instructions.
const assembled = true

func addFlowsVector(to, u, v, weights []float64) {
	if n := len(weights); n > 0 {
		flows256(&to[:Systems*n][0], &u[:Systems*n][0], &v[:Systems*n][0], &weights[0], n)
	}
}

// addProductsVector returns the number of nodes whose products it has added: pairs.
func addProductsVector(sums, y, x []float64) int {
	n := len(y) / 2
	if n > 0 {
		products256(&sums[:Systems][0], &y[0], &x[:2*Systems*n][0], n)
	}
	return 2 * n
}

func addMultiplesVector(to, y, by []float64) {
	if n := len(y); n > 0 {
		multiples256(&to[:Systems*n][0], &y[0], &by[:Systems][0], n)
	}
}

// A rung without links has a list of one for its address.
func (r *rung) sweepVector(to *sums, first, step, last int, end []int32) {
	if first != last {
		sweep256(&to.products[0], &r.right[0], &r.inverse[0], &r.x[0], &r.to[:1][0], &r.weight[:1][0], &r.first[0], &end[0], first, step, last)
	}
}

func (r *rung) addRowsVector(to []float64, first, into []int32, lo, hi, least int) {
	if lo < hi {
		addRows256(&to[0], &r.x[0], &r.to[:1][0], &r.weight[:1][0], &first[0], &r.first[1], &into[0], lo, hi, least)
	}
}

func addNextVector(x, from []float64, into []int32) {
	if n := len(into); n > 0 {
		addNext256(&x[:Systems*n][0], &from[0], &into[0], n)
	}
}
