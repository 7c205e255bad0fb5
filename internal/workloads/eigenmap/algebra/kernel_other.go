//go:build !amd64 || noasm

package algebra

// assembled reports whether this program has vector instructions.
const assembled = false

func addFlowsVector(_, _, _, _ []float64) {}

func addProductsVector(_, _, _ []float64) int { return 0 }

func addMultiplesVector(_, _, _ []float64) {}

func (*rung) sweepVector(_ *sums, _, _, _ int, _ []int32) {}

func (*rung) addRowsVector(_ []float64, _, _ []int32, _, _, _ int) {}

func addNextVector(_, _ []float64, _ []int32) {}
