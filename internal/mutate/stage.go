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
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A Stage is one check that may notice a mutant: eccbench verify of some implementations, or the
// tests of a package.
type Stage struct {
	Kind string // verify or tests
	Name string
	dir  string
	argv []string

	cores   int           // number of cores for it, 0 for all
	ready   func() error  // builds and measures it once
	takes   time.Duration // with the unchanged program
	uses    time.Duration // processor time
	reached map[int]bool  // numbers of the functions that it reaches
	broken  string        // the parts that are skipped because they fail without a mutant
	skipped []string      // the skipped tests
	useless bool          // no tests remain
	used    atomic.Int64  // processor time of all runs in nanoseconds
	late    atomic.Bool   // a run exceeded its limit of elapsed time
}

const (
	byVerify = "verify"
	byTests  = "tests"
)

// memory is the memory limit for the processes of a stage, because a mutant may allocate without
// end.
const memory = 6 << 30

// run runs the stage in a folder for its files, with a mutant selected, or 0 for none. It reports
// whether the stage failed or exceeded a limit; 0 means no limit.
func (s *Stage) run(ctx context.Context, id int, limit, ofProcessor time.Duration, scratch string, env ...string) (
	failed bool, output string, err error) {
	temp, err := os.MkdirTemp(scratch, "run-")
	if err != nil {
		return false, "", err
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
	if s.cores > 0 { // other stages run at the same time
		env = append(env, "GOMAXPROCS="+strconv.Itoa(s.cores))
	}
	cmd.Env = append(os.Environ(), append(env, "ECCMUT="+strconv.Itoa(id), "TMPDIR="+temp, "RAPID_NOFAILFILE=1")...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return false, "", err
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
	s.used.Add(int64(processorTime(cmd)))
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		s.late.Store(true)
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, out.String(), nil
	case errors.Is(ctx.Err(), context.Canceled):
		return false, "", ctx.Err()
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.As(err, &exit), errors.Is(err, exec.ErrWaitDelay):
		return true, out.String() + "\n" + err.Error(), nil
	}
	return false, out.String(), err
}

// measure runs the stage without a mutant and records the functions that it reaches. Tests that
// fail on this machine without a mutant are named and left out. If this is not enough, the stage is
// left out.
func (s *Stage) measure(ctx context.Context, scratch string) error {
	temp, err := os.MkdirTemp(scratch, "measure-") // other stages are measured at the same time
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	list := filepath.Join(temp, "reached")
	for rounds := 0; ; rounds++ {
		err := s.time(ctx, -1, scratch, "ECCMUT_REACHED="+list)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if rounds == 4 || !s.leaveOut(ctx, scratch) {
			s.useless, s.broken = true, err.Error()
			return nil
		}
		os.Remove(list)
	}
	text, err := os.ReadFile(list)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s.reached = map[int]bool{}
	for _, f := range strings.Fields(string(text)) {
		i, err := strconv.Atoi(f)
		if err != nil {
			return err
		}
		s.reached[i] = true
	}
	return nil
}

// leaveOut finds tests that fail without a mutant, and makes the stage skip them. It reports
// whether there are any. If one ends the others, there may be more.
func (s *Stage) leaveOut(ctx context.Context, scratch string) bool {
	if s.Kind != byTests {
		return false
	}
	all := Stage{Name: s.Name, dir: s.dir, cores: s.cores}
	for _, arg := range s.argv {
		if arg != "-test.failfast" && !strings.HasPrefix(arg, "-test.skip=") {
			all.argv = append(all.argv, arg)
		}
	}
	skip := func() string { return "-test.skip=^(" + strings.Join(s.skipped, "|") + ")$" }
	if len(s.skipped) > 0 {
		all.argv = append(all.argv, skip())
	}
	_, out, _ := all.run(ctx, 0, 0, 0, scratch)
	s.used.Add(all.used.Load())
	known := len(s.skipped)
	for _, m := range failedTest.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(s.skipped, m[1]) {
			s.skipped = append(s.skipped, m[1])
		}
	}
	s.argv = append(slices.DeleteFunc(s.argv, func(arg string) bool { return strings.HasPrefix(arg, "-test.skip=") }), skip())
	s.broken = fmt.Sprintf("%s without %s, which fail without a mutant", s.Name, strings.Join(s.skipped, ", "))
	return len(s.skipped) > known
}

// failedTest matches the output line of a failed test, but not of a subtest.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// time runs the stage without a mutant and records its duration.
func (s *Stage) time(ctx context.Context, id int, scratch string, env ...string) error {
	began, before := time.Now(), s.used.Load()
	if failed, out, err := s.run(ctx, id, 0, 0, scratch, env...); failed || err != nil {
		return errors.Join(fmt.Errorf("%s fails without a mutant:\n%s", s.Name, out), err)
	}
	s.takes, s.uses = time.Since(began), time.Duration(s.used.Load()-before)
	return nil
}

// try runs the stage with a mutant. Its limit of processor time is four times the program's, with
// some reserve. The limit of elapsed time is longer, because the machine may be busy.
func (s *Stage) try(ctx context.Context, id int, scratch string) (failed bool, output string, err error) {
	return s.run(ctx, id, 8*s.takes+60*time.Second, 4*s.uses+10*time.Second, scratch)
}

// processorTime returns the processor time of a finished command and its children.
func processorTime(cmd *exec.Cmd) time.Duration {
	if cmd.ProcessState == nil {
		return 0
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
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
