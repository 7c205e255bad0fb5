package multigrid

import "eccbench/internal/workloads/eigenmap"

// A Fault is a defect that tests plant to show that it is detected.
type Fault string

// The faults.
const (
	Missed  Fault = "the lowest pair above the kernel left out"
	Twice   Fault = "the second vector a second time"
	Early   Fault = "the first guess for the pairs"
	Cancels Fault = "the second value by float32, as 1 less a product"
	Weights Fault = "links along y a little off"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{Missed, Twice, Early, Cancels, Weights} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{fault: f} }

// spoil plants a fault in the graph.
func (f Fault) spoil(l *level) {
	if f == Weights {
		for i := range l.link[1] {
			l.link[1][i] *= 1.001
		}
	}
}

// swap plants a fault in the pairs.
func (f Fault) swap(m eigenmap.Map) {
	last := len(m.Values) - 1
	switch {
	case f == Twice && last >= 2:
		m.Values[2] = m.Values[1]
		copy(m.Vectors[2], m.Vectors[1])
	case f == Cancels && last >= 1:
		m.Values[1] = float64(float32(1) - float32(1-m.Values[1]) + 1.0/(1<<24))
	}
}
