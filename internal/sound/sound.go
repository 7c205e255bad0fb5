// Package sound is for checks that a program makes of its own parts before it trusts what
// they answer: verify makes them, and go test makes the same.
package sound

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// A T is what a check needs of a *testing.T.
type T interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
	TempDir() string
}

// A Check says what is not as it is to be.
type Check struct {
	Name      string
	Of        func(T)
	Allocates bool // it counts what is allocated, to which the race detector adds
}

// First is what the first check says that finds something, nil where none does. What panics is not
// as it is to be either.
func First(checks ...Check) error {
	for _, c := range checks {
		if err := c.run(); err != nil {
			return fmt.Errorf("this program is not sound: %s: %w", c.Name, err)
		}
	}
	return nil
}

func (c Check) run() (err error) {
	var t teller
	defer func() {
		r := recover()
		t.Lock()
		defer t.Unlock()
		for _, dir := range t.dirs {
			os.RemoveAll(dir)
		}
		if r != nil && r != any(&t) {
			err = fmt.Errorf("it panics: %v", r)
		} else if t.said != "" {
			err = errors.New(t.said)
		}
	}()
	c.Of(&t)
	return nil
}

// A teller keeps what is said first, by any goroutine.
type teller struct {
	sync.Mutex
	said string
	dirs []string
}

func (t *teller) Helper() {}

func (t *teller) Error(args ...any) { t.say(fmt.Sprint(args...)) }

func (t *teller) Errorf(format string, args ...any) { t.say(fmt.Sprintf(format, args...)) }

func (t *teller) Fatal(args ...any) {
	t.Error(args...)
	panic(t)
}

func (t *teller) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(t)
}

func (t *teller) say(what string) {
	t.Lock()
	defer t.Unlock()
	if t.said == "" {
		t.said = what
	}
}

// TempDir is a new folder, which is removed when the check ends.
func (t *teller) TempDir() string {
	dir, err := os.MkdirTemp("", "eccbench-sound-")
	if err != nil {
		t.Fatal(err)
	}
	t.Lock()
	defer t.Unlock()
	t.dirs = append(t.dirs, dir)
	return dir
}
