package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Stage is the tests of a package that may notice a fault.
type Stage struct {
	Name string
	dir  string
	argv []string
	env  []string // in addition

	ready func() error  // builds and measures it once
	takes time.Duration // with the unchanged program
	uses  time.Duration // processor time
	late  bool          // a run exceeded its limit of elapsed time
}

// memory is the memory limit for the processes of a stage, because a fault may allocate without
// end.
const memory = 6 << 30

// run runs the stage in a folder for its files. It reports whether the stage failed or exceeded a limit; 0 means no
// limit. used is the processor time.
func (s *Stage) run(ctx context.Context, limit, ofProcessor time.Duration, scratch string) (
	failed bool, output string, used time.Duration, err error) {
	temp, err := os.MkdirTemp(scratch, "run-")
	if err != nil {
		return false, "", 0, err
	}
	defer os.RemoveAll(temp)
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	cmd := exec.CommandContext(ctx, s.argv[0], s.argv[1:]...)
	cmd.Dir = s.dir
	// A failing test does not store its failure in the project.
	cmd.Env = append(append(os.Environ(), "TMPDIR="+temp, "RAPID_NOFAILFILE=1"), s.env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return false, "", 0, err
	}
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(200 * time.Millisecond):
				if bytes, used := usage(cmd.Process.Pid); bytes > memory || ofProcessor > 0 && used > ofProcessor {
					syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				}
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.late = s.late || errors.Is(ctx.Err(), context.DeadlineExceeded)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, out.String(), used, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return false, "", used, ctx.Err()
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return true, out.String() + "\n" + err.Error(), used, nil
	}
	return false, out.String(), used, err
}

// compilerError matches an error of a compiler of kernels, which is fatal for a missing header.
var compilerError = regexp.MustCompile(`: (fatal )?error: `)

// failedTest matches the output line of a failed test, but not of a subtest.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// time runs the stage without a fault and records its duration.
func (s *Stage) time(ctx context.Context, scratch string) error {
	began := time.Now()
	failed, out, used, err := s.run(ctx, 0, 0, scratch)
	if failed || err != nil {
		return errors.Join(fmt.Errorf("%s fails without a fault:\n%s", s.Name, out), err)
	}
	s.takes, s.uses = time.Since(began), used
	return nil
}

// try runs the stage with a fault. Its limit of processor time is four times the program's, with
// some reserve. The limit of elapsed time is longer, because the machine may be busy.
func (s *Stage) try(ctx context.Context, scratch string) (failed bool, output string, err error) {
	failed, output, _, err = s.run(ctx, 8*s.takes+60*time.Second, 4*s.uses+10*time.Second, scratch)
	return failed, output, err
}

// usage returns the memory and the processor time of the processes in a group, from Linux; on other
// systems 0.
func usage(group int) (bytes int64, used time.Duration) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		// After the name in parentheses are the state, the parent, the group and further fields.
		_, rest, _ := strings.Cut(string(text), ") ")
		const ofGroup, ofTicks, ofPages, tick = 2, 11, 21, time.Second / 100
		if f := strings.Fields(rest); len(f) > ofPages && f[ofGroup] == strconv.Itoa(group) {
			pages, _ := strconv.ParseInt(f[ofPages], 10, 64)
			bytes += pages * int64(os.Getpagesize())
			for _, ticks := range f[ofTicks : ofTicks+4] {
				n, _ := strconv.ParseInt(ticks, 10, 64)
				used += time.Duration(n) * tick
			}
		}
	}
	return bytes, used
}
