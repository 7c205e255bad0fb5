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

// Raw returns the writer below all wrappers that escape control characters. Use it for output
// without foreign text, and for binary output.
func Raw(w io.Writer) io.Writer {
	for {
		inner, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			return w
		}
		w = inner.Unwrap()
	}
}

// terminal returns the file of a writer, and reports whether it is a terminal.
func terminal(w io.Writer) (*os.File, bool) {
	file, ok := Raw(w).(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// Interruptible returns a context that a signal ends. Results that are finished by then are kept.
// It does not change an ignored hang-up signal, as under nohup. others are further signals.
func Interruptible(others ...os.Signal) (context.Context, context.CancelFunc) {
	signals := append(others, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), signals...)
}

// EndOnInterrupt makes a signal end the program with ExitInconclusive, after removal of unfinished
// files. The caller ends this behaviour with stop.
func EndOnInterrupt(stderr io.Writer) (stop func()) {
	ctx, cancel := Interruptible()
	over := make(chan struct{})
	go func() {
		select {
		case <-over:
		case <-ctx.Done():
			select {
			case <-over: // stopped: signals have no effect any more
			default:
				regular.DropAll()
				fmt.Fprintln(stderr, "eccbench: interrupted")
				os.Exit(ExitInconclusive)
			}
		}
	}()
	return sync.OnceFunc(func() { close(over); cancel() })
}
