package device

import "errors"

// Unavailable is the error of a machine or a build without a usable device. Its text is one line
// with the reason.
type Unavailable struct {
	Why string
	Err error // the driver's error behind it, if any
}

func (e *Unavailable) Error() string { return e.Why }

func (e *Unavailable) Unwrap() error { return e.Err }

// IsUnavailable reports whether the error means that no device is usable. The caller then works
// without one.
func IsUnavailable(err error) bool {
	var u *Unavailable
	return errors.As(err, &u)
}

// IsOutOfMemory reports whether device memory or pinned memory is exhausted. The device remains
// usable.
func IsOutOfMemory(err error) bool {
	var e interface{ OutOfMemory() bool }
	return errors.As(err, &e) && e.OutOfMemory()
}

// IsSticky reports whether an error made the device unusable for this process, so that every later
// call fails too. Only a new process can reliably use the device again.
func IsSticky(err error) bool {
	var e interface{ Sticky() bool }
	return errors.As(err, &e) && e.Sticky()
}

// IsLaunchTooLarge reports whether a kernel needs more threads, registers or shared memory than the
// device offers. The device remains usable.
func IsLaunchTooLarge(err error) bool {
	var e interface{ LaunchTooLarge() bool }
	return errors.As(err, &e) && e.LaunchTooLarge()
}

// IsRegistered reports whether memory could not be registered because some pages are registered
// already. The device remains usable.
func IsRegistered(err error) bool {
	var e interface{ Registered() bool }
	return errors.As(err, &e) && e.Registered()
}

// IsCodeRefused reports whether a module was rejected because of its code: it is invalid, or
// machine code for another device or a newer driver. The device remains usable.
func IsCodeRefused(err error) bool {
	var e interface{ CodeRefused() bool }
	return errors.As(err, &e) && e.CodeRefused()
}
