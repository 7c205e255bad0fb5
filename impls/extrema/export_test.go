package extrema

// InStrips returns the implementation that sweeps through the given number of rows at a time.
func InStrips(rows int64) Implementation { return Implementation{rows: rows} }

// Available lists the instruction sets of this program on this machine.
func Available() []string { return available() }

// Gathering returns the implementation whose tallies gather the given number of pairs.
func Gathering(pairs int) Implementation { return Implementation{pairs: pairs} }
