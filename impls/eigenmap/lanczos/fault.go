package lanczos

// A Fault is a mistake that is planted to see that it is caught.
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

// Faulty is the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{f} }
