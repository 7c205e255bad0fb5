package windowed

// A Fault is a defect that tests plant to show that it is detected.
type Fault string

// The faults.
const (
	Degrees Fault = "a patch its own neighbour in D"
	Early   Fault = "what float32 gives for the pairs"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{Degrees, Early} }

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{f} }

// spoil plants a fault in the degrees.
func (f Fault) spoil(g *graph) {
	if f == Degrees {
		for i := range g.degree {
			g.degree[i]++ // as if each patch were its own neighbour
		}
	}
}
