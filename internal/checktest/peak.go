package checktest

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// residentBytes returns a field of /proc/self/status in bytes, such as VmRSS.
func residentBytes(t *testing.T, field string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, field+": %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	t.Skipf("/proc/self/status has no %s", field)
	return 0
}

// Peak returns by how many bytes f raises the resident memory of this process at most.
func Peak(t *testing.T, f func()) int64 {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // resets VmHWM
		t.Skip(err)
	}
	before := residentBytes(t, "VmRSS")
	f()
	return residentBytes(t, "VmHWM") - before
}
