package peers

import (
	"errors"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Processes run on the given cores, and this thread on all of them afterwards.
func TestOnCores(t *testing.T) {
	var all, now unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	if len(Cores()) != all.Count() {
		t.Errorf("cores %v, want %d", Cores(), all.Count())
	}
	for _, core := range Cores() {
		var out []byte
		err := OnCores([]int{core}, func() (err error) {
			out, err = exec.Command("cat", "/proc/self/status").Output()
			return err
		})
		want := "Cpus_allowed_list:\t" + strconv.Itoa(core) + "\n"
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("on core %d, error %v: %s", core, err, out)
		}
	}
	if err := OnCores(nil, func() error { return unix.SchedGetaffinity(0, &now) }); err != nil || now != all {
		t.Errorf("no cores: %v, error %v", now, err)
	}
	err := OnCores(Cores()[:1], func() error { return errors.ErrUnsupported })
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("the error of f: %v", err)
	}
	if err := unix.SchedGetaffinity(0, &now); err != nil || now != all {
		t.Errorf("afterwards the thread has %v of %v, error %v", now, all, err)
	}
}

func TestCalm(t *testing.T) {
	took := map[int]time.Duration{3: 20, 4: 10, 7: 30, 9: 10}
	of := func(core int) (time.Duration, error) { return took[core], nil }
	for n, want := range [][]int{1: {4}, 2: {4, 9}, 3: {4, 9, 3}, 4: nil, 5: nil} {
		if got := fastest(n, []int{3, 4, 7, 9}, of); n > 0 && !slices.Equal(got, want) {
			t.Errorf("%d cores of %v: %v, want %v", n, took, got, want)
		}
	}
	forbidden := func(int) (time.Duration, error) { return 0, unix.EPERM }
	if got := fastest(1, []int{3, 4}, forbidden); got != nil {
		t.Errorf("where cores cannot be chosen: %v", got)
	}
	if n := len(Cores()); len(Calm(1)) != min(1, n-1) || Calm(n) != nil {
		t.Errorf("of %d cores: %v for one, %v for all", n, Calm(1), Calm(n))
	}
}
