package windowed

// A Fault is a mistake that is planted to see that it is caught.
type Fault string

// The faults.
const (
	Degrees Fault = "a patch its own neighbour in D"
	Early   Fault = "what float32 gives for the pairs"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{Degrees, Early} }

// Faulty is the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{f} }

// spoil plants what is wrong with the degrees.
func (f Fault) spoil(g *graph) {
	if f == Degrees {
		for i := range g.degree {
			g.degree[i]++ // as of a patch that is its own neighbour
		}
	}
}
