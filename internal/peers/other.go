//go:build !linux

package peers

import (
	"errors"
	"os"
	"time"
)

var errLinux = errors.New("peers run on Linux only")

// A Process is a running peer. This system has none.
type Process struct{ dead error }

func start(*Peer, launch) (*Process, error) {
	return nil, &Error{Kind: Broken, Verb: "start", Why: errLinux.Error()}
}

func (*Process) exchange(...string) (string, error) { return "", errLinux }
func (*Process) end()                               {}

// Bind fails.
func (*Process) Bind(...string) (int, error) { return 0, errLinux }

// Do fails.
func (*Process) Do([]int, ...string) (map[string]time.Duration, error) { return nil, errLinux }

// Allocated fails.
func (*Process) Allocated(int, int) (int64, error) { return 0, errLinux }

// Ping fails.
func (*Process) Ping() (time.Duration, error) { return 0, errLinux }

// Sample samples nothing.
func (*Process) Sample(time.Duration) func() []uintptr { return func() []uintptr { return nil } }

// Spent returns 0.
func (*Process) Spent() time.Duration { return 0 }

// Family returns the process alone.
func Family(pid int) []int { return []int{pid} }

// Serve fails.
func Serve(func() About, func(map[string]string) (Task, error)) error { return errLinux }

// Open fails.
func Open(string, bool) (*Array, string, []int64, error) { return nil, "", nil, errLinux }

// Image fails.
func (*Process) Image(string, []int64) (*Array, error) { return nil, errLinux }

// Recycle does nothing.
func (*Process) Recycle(*Array) {}

// OpenAt fails.
func OpenAt(string, int64, bool) (*Array, error) { return nil, errLinux }

// PathOf returns "".
func PathOf(*os.File) string { return "" }

// Free fails.
func (*Process) Free(int) error { return errLinux }

// An Array is memory to share with a peer.
type Array struct{}

// NewArray fails.
func NewArray(string, string, []int64, bool) (*Array, error) { return nil, errLinux }

// Path returns "".
func (*Array) Path() string { return "" }

// Data returns nil.
func (*Array) Data() []byte { return nil }

// Close does nothing.
func (*Array) Close() {}

// OnCores runs f. Here its new processes run on all cores.
func OnCores(_ []int, f func() error) error { return f() }

// Calm returns no cores: here they are not chosen.
func Calm(int) []int { return nil }

// Cores returns no cores: here they are not chosen.
func Cores() []int { return nil }
