package device

import "errors"

// Unavailable is the error of a machine, or a build, without a usable device.
// Its text is one line that says why.
type Unavailable struct {
	Why string
	Err error // the driver's error behind it, if any
}

func (e *Unavailable) Error() string { return e.Why }

func (e *Unavailable) Unwrap() error { return e.Err }

// IsUnavailable reports whether the error says that there is no usable device,
// so that the caller does without one.
func IsUnavailable(err error) bool {
	var u *Unavailable
	return errors.As(err, &u)
}

// IsOutOfMemory reports whether memory of the device or pinned memory ran out.
// The device can be used on.
func IsOutOfMemory(err error) bool {
	var e interface{ OutOfMemory() bool }
	return errors.As(err, &e) && e.OutOfMemory()
}

// IsSticky reports whether the error, or an earlier one, took the device away
// from this process: every later call fails too. Only a new process is sure to
// get the device back.
func IsSticky(err error) bool {
	var e interface{ Sticky() bool }
	return errors.As(err, &e) && e.Sticky()
}

// IsLaunchTooLarge reports whether a kernel asks for more threads, registers or
// shared memory than the device has for it. The device can be used on.
func IsLaunchTooLarge(err error) bool {
	var e interface{ LaunchTooLarge() bool }
	return errors.As(err, &e) && e.LaunchTooLarge()
}

// IsRegistered reports whether memory was not registered because pages of it are already. The
// device can be used on.
func IsRegistered(err error) bool {
	var e interface{ Registered() bool }
	return errors.As(err, &e) && e.Registered()
}

// IsCodeRefused reports whether a module was not loaded because of its code: it is
// machine code for another device or a newer driver, or wrong. The device can be used on.
func IsCodeRefused(err error) bool {
	var e interface{ CodeRefused() bool }
	return errors.As(err, &e) && e.CodeRefused()
}
