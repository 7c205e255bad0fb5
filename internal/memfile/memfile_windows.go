package memfile

import (
	"errors"
	"os"
)

// Map returns an error: workers share files on Unix only.
func Map(*os.File, int64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

// errNoWorkers is the answer to every run: workers inherit files and are ended as process groups.
var errNoWorkers = errors.New("Windows: implementations are measured and verified on Linux and macOS only; " +
	"in WSL use the program for Linux")

// New returns an error.
func New(string) (*os.File, error) { return nil, errNoWorkers }

// MapWhole returns an error.
func MapWhole(*os.File) ([]byte, error) { return nil, errNoWorkers }

// MapExtent returns an error.
func MapExtent(*os.File, Extent, bool) ([]byte, error) { return nil, errNoWorkers }

// Seal does nothing.
func Seal(*os.File) {}

// Sealed returns false.
func Sealed(*os.File) bool { return false }

// Unmap does nothing.
func Unmap([]byte) {}
