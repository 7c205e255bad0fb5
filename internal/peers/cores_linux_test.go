package peers_test

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"eccbench/internal/peers"
)

// Processes run on the cores from the given one on, and this thread on all cores again.
func TestOnCores(t *testing.T) {
	var all unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	if all.Count() < 2 {
		t.Skip("there is one core")
	}
	var seen []string
	for first := range all.Count() + 1 {
		var out []byte
		err := peers.OnCores(1, first, func() (err error) {
			out, err = exec.Command("cat", "/proc/self/status").Output()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(out), "Cpus_allowed_list:\t")
		core, _, _ := strings.Cut(list, "\n")
		seen = append(seen, core)
	}
	different := slices.Compact(slices.Sorted(slices.Values(seen)))
	if len(different) != all.Count() || seen[0] != seen[all.Count()] || strings.ContainsAny(seen[0], ",-") {
		t.Errorf("one core of %d, from each in turn: %v", all.Count(), seen)
	}
	var now unix.CPUSet
	for _, n := range []int{0, all.Count(), all.Count() + 1} {
		if err := peers.OnCores(n, 1, func() error { return unix.SchedGetaffinity(0, &now) }); err != nil || now != all {
			t.Errorf("%d of %d cores: %v, error %v", n, all.Count(), now, err)
		}
	}
	if err := peers.OnCores(1, 0, func() error { return errors.ErrUnsupported }); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("the error of f: %v", err)
	}
	if err := unix.SchedGetaffinity(0, &now); err != nil || now != all {
		t.Errorf("afterwards the thread has %v of %v, error %v", now, all, err)
	}
}
