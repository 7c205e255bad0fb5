package gpu

// A Fault is a mistake that is planted to see that it is caught. Those of kernels are in
// kernels/gvf/fault.h.
type Fault string

// Slips of who drives the kernels.
const (
	OldBuffer Fault = "the field of one pass less after an odd number"
	Early     Fault = "the first guess for the solution"
	BorderOff Fault = "the border of the other boundary"
)
