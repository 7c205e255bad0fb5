//go:build !linux

package datasets

import "os"

// dropPages cannot drop pages on this system.
func dropPages(*os.File) (cold bool, err error) { return false, nil }
