package main

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A peer has its version, its round trip and the ratio to our row; without a time it has the status.
func TestSpeeds(t *testing.T) {
	const rows = `[{"workload": "memread", "impl": "memread", "size": "8x8", "items": 64, "rate": 1},
		{"workload": "b", "impl": "ours", "size": "16x16", "items": 256, "rate": 256000, "status": "VERIFIED"},
		{"workload": "b", "impl": "ours", "size": "8x8", "items": 64, "rate": 64000, "status": "NOISY"},
		{"workload": "b", "impl": "peer:p", "size": "8x8", "items": 64, "rate": 640, "status": "VERIFIED",
			"floor": 3e-5, "peer": {"version": "2"}},
		{"workload": "b", "impl": "peer:p", "size": "16x16", "items": 256, "rate": 1280, "status": "VERIFIED",
			"floor": 2e-5, "peer": {"version": "2"}},
		{"workload": "b", "impl": "peer:q", "size": "8x8", "items": 64, "rate": 9, "status": "UNVERIFIED",
			"peer": {"version": "1"}},
		{"workload": "b", "impl": "peer:q", "size": "16x16", "items": 256, "status": "SKIPPED", "peer": {"version": "1"}},
		{"workload": "a", "impl": "ours", "size": "8x8x8", "items": 512, "rate": 512, "status": "VERIFIED"}]`
	const want = `### a

| implementation | 8x8x8 | empty call |
|---|---|---|
| ours | 1.00 s | |

### b

| implementation | 8x8 | 16x16 | empty call |
|---|---|---|---|
| ours | 1.00 ms~ | 1.00 ms | |
| peer:p 2 | 100 ms (100×)~ | 200 ms (200×) | 20.0 µs |
| peer:q 1 | UNVERIFIED | — | |
`
	got, err := speeds([]string{"r"}, func(...string) (string, error) { return rows, nil })
	got = regexp.MustCompile(`:?-{3,}`).ReplaceAllString(got, "---")
	if got = regexp.MustCompile(` +`).ReplaceAllString(got, " "); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	if _, err := speeds([]string{"r"}, func(...string) (string, error) {
		return strings.Replace(rows, `"peer:q", "size": "8x8"`, `"peer:q", "size": "9x9"`, 1), nil
	}); err == nil {
		t.Error("a peer with other sizes")
	}
	if _, err := speeds([]string{"r"}, func(...string) (string, error) { return "", errors.New("no") }); err == nil {
		t.Error("no error")
	}
	newer := `[{"workload": "a", "impl": "ours", "size": "4x4", "items": 16, "rate": 8, "status": "VERIFIED"}]`
	both, err := speeds([]string{"r", "s"}, func(args ...string) (string, error) {
		if slices.Contains(args, "s") {
			return newer, nil
		}
		return rows, nil
	})
	if err != nil || !strings.Contains(both, "2.00 s") || strings.Contains(both, "8x8x8") || !strings.Contains(both, "### b") {
		t.Errorf("the second file has other times of a: %s, %v", both, err)
	}
}
