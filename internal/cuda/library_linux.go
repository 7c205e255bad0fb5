//go:build linux && (amd64 || arm64)

package cuda

import (
	"runtime"
	"syscall"

	"github.com/ebitengine/purego"
)

// openLibrary opens a shared library. It stays open: the driver does not support unloading, and
// opening it again returns the same handle.
func openLibrary(path string) (uintptr, error) {
	// The loader keeps the reason of a failure for the thread that failed.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// lookup is the address of a function of the library, 0 when it has none.
func lookup(library uintptr, name string) uintptr {
	fn, err := purego.Dlsym(library, name)
	if err != nil {
		return 0
	}
	return fn
}

// invoke calls a C function of integers and pointers.
//
//go:uintptrescapes
func invoke(fn uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(fn, args...)
	return result
}

// threadID identifies the thread that the caller runs on.
func threadID() int { return syscall.Gettid() }
