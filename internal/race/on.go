//go:build race

package race

// Enabled says that the race detector is compiled in.
const Enabled = true
