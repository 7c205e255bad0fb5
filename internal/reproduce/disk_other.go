//go:build !unix

package reproduce

import "math"

// freeDisk is not known on this system: a full disk is found by writing.
func freeDisk(string) (int64, error) { return math.MaxInt64 / 2, nil }
