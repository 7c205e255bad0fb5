package extrema

// InStrips is the implementation that marches through so many rows at a time.
func InStrips(rows int64) Implementation { return Implementation{rows: rows} }

// Available lists the instruction sets of this program on this machine.
func Available() []string { return available() }

// Gathering is the implementation whose tallies gather so many pairs.
func Gathering(pairs int) Implementation { return Implementation{pairs: pairs} }
