package cuda

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// The driver's codes that mean something to this package.
const (
	codeInvalidValue         = 1
	codeOutOfMemory          = 2
	codeNotReady             = 600
	codeRegistered           = 712
	codeLaunchOutOfResources = 701
	codeCooperativeTooLarge  = 720
)

// sticky are the error codes after which a context returns only errors.
var sticky = []int{
	4,   // deinitialized
	46,  // device unavailable
	100, // no device: it fell off the bus
	101, // invalid device, likewise
	214, // uncorrectable memory error
	220, // uncorrectable link error
	226, // contained error
	700, // illegal address
	702, // launch timeout
	709, // context is destroyed
	710, // assertion
	714, // hardware stack error
	715, // illegal instruction
	716, // misaligned address
	717, // invalid address space
	718, // invalid program counter
	719, // launch failed
	721, // tensor memory leak
	806, // multi-process service: call failed
	810, // multi-process service: client terminated
	911, // external device
	999, // unknown
}

// refused lists the codes of loading a module that blame its code.
var refused = []int{
	200, // invalid image
	209, // no binary for the device
	218, // invalid PTX
	222, // unsupported PTX version
	300, // invalid source
	801, // not supported
}

// Error is a call of the driver that failed. Its text is one line.
type Error struct {
	Call   string // the function of the driver
	Code   int    // the returned code
	Name   string // of the code: "CUDA_ERROR_OUT_OF_MEMORY"
	Text   string // of the code
	Object string // the object of the call: `buffer "image" (1 GiB)`
	Log    string // the compiler's output, if any
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s: %s (%s, %d)", e.Object, e.Call, e.Text, e.Name, e.Code)
	if log := oneLine(e.Log); log != "" {
		s += ": " + log
	}
	return s
}

// OutOfMemory reports whether memory ran out.
func (e *Error) OutOfMemory() bool { return e.Code == codeOutOfMemory }

// Sticky reports whether the context is lost.
func (e *Error) Sticky() bool { return slices.Contains(sticky, e.Code) }

// LaunchTooLarge reports whether a kernel needs more resources than the device has.
func (e *Error) LaunchTooLarge() bool {
	return e.Code == codeLaunchOutOfResources || e.Code == codeCooperativeTooLarge ||
		e.Code == codeInvalidValue && e.Call == symbols[cuLaunchKernel].names[0]
}

// Registered reports whether pages of memory were registered before.
func (e *Error) Registered() bool { return e.Code == codeRegistered }

// CodeRefused reports whether a module was not loaded because of its code.
func (e *Error) CodeRefused() bool {
	return e.Call == symbols[cuModuleLoadDataEx].names[0] && slices.Contains(refused, e.Code)
}

// LostError is a call that was not tried because an earlier error took the
// context away.
type LostError struct {
	Call, Object string
	First        *Error // the error that did, from the call that reported it
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: %s: the context is lost since %v", e.Object, e.Call, e.First)
}

func (e *LostError) Unwrap() error { return e.First }

// newError describes a code that a function returned.
func (l *library) newError(s symbol, code int, object, log string) *Error {
	e := &Error{Call: l.name[s], Code: code, Object: object, Log: log}
	e.Name = l.describe(cuGetErrorName, code, "CUDA error")
	e.Text = l.describe(cuGetErrorString, code, "unknown error")
	return e
}

func (l *library) describe(s symbol, code int, unknown string) string {
	if !l.has(s) {
		return unknown
	}
	var text *byte
	if l.call(s, uintptr(code), uintptr(unsafe.Pointer(&text))) != 0 || text == nil {
		return unknown
	}
	return cstring(text)
}

// maxLog is the length of a log in an error's text.
const maxLog = 1000

// oneLine is a log as one line.
func oneLine(log string) string {
	lines := strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	s := strings.Join(lines, "; ")
	if len(s) > maxLog {
		s = s[:maxLog] + "…"
	}
	return s
}

// versionText is a version as people write it: 12080 is "12.8".
func versionText(v int32) string {
	return strconv.Itoa(int(v/1000)) + "." + strconv.Itoa(int(v%1000/10))
}
