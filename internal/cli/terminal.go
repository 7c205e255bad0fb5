package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"

	"eccbench/internal/regular"
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
				regular.DropAll()
				fmt.Fprintln(stderr, "eccbench: interrupted")
				os.Exit(ExitInconclusive)
			}
		}
	}()
	return sync.OnceFunc(func() { close(over); cancel() })
}
