package gpu

// A Fault is a defect that tests plant to show that it is detected. Faults of kernels are in
// kernels/gvf/fault.h.
type Fault string

// Faults of the code that drives the kernels.
const (
	OldBuffer Fault = "the field of one pass less after an odd number"
	Early     Fault = "the first guess for the solution"
	BorderOff Fault = "the border of the other boundary"
)
