package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// Raw is the writer below those that only show what a terminal would obey: for what holds
// no text of others, and for bytes that are no text.
func Raw(w io.Writer) io.Writer {
	for {
		inner, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			return w
		}
		w = inner.Unwrap()
	}
}

// terminal is the file of a writer to a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	file, ok := Raw(w).(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// Interruptible is a context that ends when a signal asks the program to: what had ended by
// then is kept. A hang-up that is ignored, as under nohup, stays so.
func Interruptible() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}

// unwritten are the files that WriteFile has begun and not ended.
var unwritten files

// files are names of files.
type files struct {
	mu    sync.Mutex
	names map[string]bool
}

// create makes a hidden file beside a path. It has the mode of the file that it replaces, or
// that of any new file.
func (u *files) create(path string) (*os.File, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()[:10])
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) // less the umask
	if err != nil {
		return nil, cause(err)
	}
	if info, err := os.Stat(path); err == nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return nil, errors.Join(cause(err), f.Close(), os.Remove(name))
		}
	}
	if u.names == nil {
		u.names = map[string]bool{}
	}
	u.names[f.Name()] = true
	return f, nil
}

func (u *files) drop(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.names, name)
}

// EndOnInterrupt ends the program with ExitInconclusive when a signal asks it to, and removes
// unwritten files before, until the caller stops that.
func EndOnInterrupt(stderr io.Writer) (stop func()) {
	ctx, cancel := Interruptible()
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
		case <-ctx.Done():
			select {
			case <-over: // and nobody waits for a signal any more
			default:
				unwritten.mu.Lock() // nobody begins a file any more
				for name := range unwritten.names {
					os.Remove(name) // all that can be done
				}
				fmt.Fprintln(stderr, "eccbench: interrupted")
				os.Exit(ExitInconclusive)
			}
		}
	}()
	return sync.OnceFunc(func() { close(over); cancel() })
}
