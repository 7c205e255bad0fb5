package runner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// anonymousRSS is the memory that a process holds for itself, without the
// shared inputs; 0 when it cannot be read.
func anonymousRSS(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
			return kb << 10
		}
	}
	return 0
}
