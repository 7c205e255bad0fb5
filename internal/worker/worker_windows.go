package worker

import (
	"os"
	"syscall"
)

// CheckLimits returns nil: there is no limit of open files to check.
func CheckLimits() error { return nil }

// OwnGroup returns nil: there are no process groups.
func OwnGroup() *syscall.SysProcAttr { return nil }

// KillGroup does nothing.
func KillGroup(int) {}

func closeOnExec(int) {}

func peakRSS(*os.ProcessState) int64 { return 0 }
