package lanczos

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// A Fault is a defect that tests plant to show that it is detected.
type Fault string

// The faults.
const (
	Sign     Fault = "the sign of a number of D"
	Diagonal Fault = "what memory held on the diagonal of W"
	Fewer    Fault = "an eighth of the steps left out"
	Skew     Fault = "vectors made perpendicular to the last two alone"
	Single   Fault = "weights of float32"
	Missed   Fault = "the second value of T left out"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{Sign, Diagonal, Fewer, Skew, Single, Missed} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{f} }

// weights plants a fault in a row of weights.
func (f Fault) weights(row []float64, i int) {
	switch f {
	case Single:
		for k, v := range row {
			row[k] = float64(float32(v))
		}
	case Diagonal:
		row[i] = 1 + float64(i%3)
	}
}

// degrees plants a fault in D^−½.
func (f Fault) degrees(scale []float64) {
	if f == Sign {
		scale[0] = -scale[0]
	}
}

// reduceSteps returns a reduced number of steps, and clears the results of the others.
func (j *job) reduceSteps() int {
	clear(j.q)
	clear(j.Diagonal)
	clear(j.OffDiagonal)
	return j.p.Steps - j.p.Steps/8
}

// skew makes the result of a step orthogonal to its last two vectors only.
func (j *job) skew(t *mat.SymDense, k int, z blas64.Vector) {
	for i := max(0, k-1); i <= k; i++ {
		blas64.Axpy(-t.At(i, k), vector(j.q[i*j.n:][:j.n]), z)
	}
}

// next returns the index of the pair that replaces pair k, and sets its value.
func (j *job) next(k int, values []float64) int {
	if k > 0 && k+1 < len(values) {
		j.Values[k] = values[k+1]
		return k + 1
	}
	return k
}
