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

// A Stage is one thing that may notice a mutant: eccbench verify of some implementations,
// or the tests of a package.
type Stage struct {
	Kind string // verify or tests
	Name string
	dir  string
	argv []string

	cores   int           // that it is told of, 0 for all
	ready   func() error  // builds and measures it, once
	takes   time.Duration // with the program itself
	uses    time.Duration // of the processor
	reached map[int]bool  // the functions that it comes to, by their numbers
	broken  string        // what of it fails without a mutant, and is left out
	skipped []string      // the tests that are left out
	useless bool          // that is all of it
	used    atomic.Int64  // nanoseconds of the processor, by all runs
}

const (
	byVerify = "verify"
	byTests  = "tests"
)

// memory is the most that the processes of a stage may hold: a mutant may want all there is.
const memory = 6 << 30

// run runs the stage with a mutant chosen, 0 for none, in a folder for what it leaves. It
// says whether the stage failed, which it also does when it takes too long, 0 for no limits.
func (s *Stage) run(ctx context.Context, id int, limit, ofProcessor time.Duration, scratch string, env ...string) (failed bool, output string, err error) {
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
	// Nor does a test that fails leave in the project what it failed with.
	if s.cores > 0 { // others run beside it
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
				if bytes, used := held(cmd.Process.Pid); bytes > memory || ofProcessor > 0 && used > ofProcessor {
					syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				}
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	s.used.Add(int64(processorTime(cmd)))
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

// measure runs the stage without a mutant and learns what it comes to. Tests that fail without one, on
// this machine, are left out and named, and so is the stage where that is not enough.
func (s *Stage) measure(ctx context.Context, scratch string) error {
	temp, err := os.MkdirTemp(scratch, "measure-") // others are measured beside it
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

// leaveOut finds tests that fail without a mutant, and has the stage skip them. It says whether there
// are any; where one ends the others, there may be more.
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

// failedTest is a line of a test that failed, not one within another.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// time runs the stage without a mutant and notes what it takes.
func (s *Stage) time(ctx context.Context, id int, scratch string, env ...string) error {
	began, before := time.Now(), s.used.Load()
	if failed, out, err := s.run(ctx, id, 0, 0, scratch, env...); failed || err != nil {
		return errors.Join(fmt.Errorf("%s fails without a mutant:\n%s", s.Name, out), err)
	}
	s.takes, s.uses = time.Since(began), time.Duration(s.used.Load()-before)
	return nil
}

// try runs the stage with a mutant, which may use four times what the program does of the processor.
// Whoever waits may do so for longer: others may use the machine.
func (s *Stage) try(ctx context.Context, id int, scratch string) (failed bool, output string, err error) {
	return s.run(ctx, id, 8*s.takes+60*time.Second, 4*s.uses+10*time.Second, scratch)
}

// processorTime is what a command that has ended used of the processor, with what it waited for.
func processorTime(cmd *exec.Cmd) time.Duration {
	if cmd.ProcessState == nil {
		return 0
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// held is how many bytes the processes of a group hold, and how long they and what they waited for used
// the processor, as Linux says; elsewhere 0.
func held(group int) (bytes int64, used time.Duration) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// What comes after the name in parentheses: state, parent, group, and so on.
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
