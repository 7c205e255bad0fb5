//go:build unix && !linux

package memfile

import "os"

// New makes a file without a name, so that the system frees it when the process dies.
func New(string) (*os.File, error) { return namelessFile() }

// Seal does nothing: there are no peers.
func Seal(*os.File) {}

// Sealed returns false.
func Sealed(*os.File) bool { return false }
