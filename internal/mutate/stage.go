package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

	ready   func() error  // builds and measures it, once
	takes   time.Duration // with the program itself
	reached map[int]bool  // the functions that it comes to, by their numbers
}

const (
	byVerify = "verify"
	byTests  = "tests"
)

// memory is the most that the processes of a stage may hold: a mutant may want all there is.
const memory = 6 << 30

// run runs the stage with a mutant chosen, 0 for none, in a folder for what it leaves. It
// says whether the stage failed, which it also does when it takes too long.
func (s *Stage) run(ctx context.Context, id int, limit time.Duration, scratch string, env ...string) (failed bool, output string, err error) {
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
				if held(cmd.Process.Pid) > memory {
					syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				}
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
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

// measure runs the stage without a mutant, which it has to pass, and learns what it comes
// to.
func (s *Stage) measure(ctx context.Context, scratch string) error {
	temp, err := os.MkdirTemp(scratch, "measure-") // others are measured beside it
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	list := filepath.Join(temp, "reached")
	began := time.Now()
	if failed, out, err := s.run(ctx, -1, 0, scratch, "ECCMUT_REACHED="+list); failed || err != nil {
		return fmt.Errorf("%s fails without a mutant: %w\n%s", s.Name, err, out)
	}
	s.takes = time.Since(began)
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

// limit is how long the stage may take with a mutant.
func (s *Stage) limit() time.Duration { return 4*s.takes + 10*time.Second }

// held is how many bytes the processes of a group hold, as Linux says; elsewhere 0.
func held(group int) (bytes int64) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range list {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// What comes after the name in parentheses: state, parent, group, and so on.
		_, rest, _ := strings.Cut(string(text), ") ")
		const ofGroup, ofPages = 2, 21
		if f := strings.Fields(rest); len(f) > ofPages && f[ofGroup] == strconv.Itoa(group) {
			pages, _ := strconv.ParseInt(f[ofPages], 10, 64)
			bytes += pages * int64(os.Getpagesize())
		}
	}
	return bytes
}
