package runner

import (
	"errors"
	"os"
	"syscall"
)

// errNoWorkers is the answer to every run: workers inherit files and are ended as process groups.
var errNoWorkers = errors.New("Windows: implementations are measured and verified on Linux and macOS only; " +
	"in WSL use the program for Linux")

// CheckLimits returns nil: there is no limit of open files to check.
func CheckLimits() error { return nil }

func newFile(string) (*os.File, error) { return nil, errNoWorkers }

func mapFile(*os.File) ([]byte, error) { return nil, errNoWorkers }

func mapExtent(*os.File, extent, bool) ([]byte, error) { return nil, errNoWorkers }

func seal(*os.File) {}

func sealed(*os.File) bool { return false }

// OwnGroup returns nil: there are no process groups.
func OwnGroup() *syscall.SysProcAttr { return nil }

// KillGroup does nothing.
func KillGroup(int) {}

func closeOnExec(int) {}

func peakRSS(*os.ProcessState) int64 { return 0 }
