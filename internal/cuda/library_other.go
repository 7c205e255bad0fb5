//go:build !(linux && (amd64 || arm64))

package cuda

import (
	"errors"
	"runtime"
)

func openLibrary(path string) (uintptr, error) {
	return 0, errors.New(path + ": not supported on " + runtime.GOOS + "/" + runtime.GOARCH)
}

func lookup(uintptr, string) uintptr { return 0 }

func invoke(uintptr, ...uintptr) uintptr { panic("cuda: no library is open") }

func threadID() int { return 0 }
