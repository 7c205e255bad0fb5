//go:build !js

package regular

import "syscall"

// nonBlocking opens a named pipe without waiting for its writer.
const nonBlocking = syscall.O_NONBLOCK
