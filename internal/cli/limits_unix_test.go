//go:build unix

package cli

import (
	"io"
	"testing"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// Few open files are an error of commands that start workers, and not of their help.
func TestLimitsOfWorkers(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 40, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
	run := func(_ *Program, _ *pflag.FlagSet, parse func() error) error { return parse() }
	for _, c := range []struct {
		workers bool
		args    []string
		code    int
	}{{false, nil, ExitOK}, {true, []string{"--help"}, ExitOK}, {true, nil, ExitFailure}, {true, []string{"--none"}, ExitUsage}} {
		p := &Program{Stdout: io.Discard, Stderr: io.Discard}
		err := Subcommand{Name: "one", Brief: "do one", Conducts: true, Workers: c.workers, Run: run}.Do(p, c.args)
		if code := p.Fail(err); code != c.code {
			t.Errorf("%q with workers %v: exit code %d (%v), want %d", c.args, c.workers, code, err, c.code)
		}
	}
}
