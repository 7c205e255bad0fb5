package gpu

// A Fault is a mistake that is planted to see that it is caught. Those of kernels are in
// kernels/gvf/fault.h.
type Fault string

// OldBuffer is a slip of who drives the kernels.
const OldBuffer Fault = "the field of one pass less after an odd number"

// Faulty is an implementation with a fault.
func Faulty(i Implementation, f Fault) Implementation {
	i.fault = f
	return i
}
