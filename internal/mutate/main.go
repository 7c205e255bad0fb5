// Command mutate measures the tests: it plants the mistakes of the folder faults in the program, one at a time, and
// fails if the tests that a mistake names do not notice it.
//
// A planted mistake is an overlay of the changed file. Nothing is written to the source tree.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// command runs faults: all, or a random sample.
func command(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("mutate", flag.ContinueOnError)
	root := f.String("root", "../..", "folder of the program")
	n := f.Int("n", 0, "size of a random sample; 0 for all faults")
	seed := f.String("seed", rand.Text()[:8], "seed of the sample; another one each time unless given")
	only := f.String("only", "", "regular expression: the faults whose area/name or file matches it")
	jobs := f.Int("jobs", runtime.NumCPU(), "number of faults that run at once")
	verbose := f.Bool("v", false, "name the test that notices each fault")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; want flags only", f.Arg(0))
	}
	abs, err := filepath.Abs(*root)
	if err != nil {
		return err
	}
	which, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	faults, err := readFaults(filepath.Join(abs, "internal/mutate/faults"))
	if err != nil {
		return err
	}
	faults = slices.DeleteFunc(faults, func(f *Fault) bool {
		return !which.MatchString(f.path()) && !which.MatchString(f.File)
	})
	if *n > 0 && *n < len(faults) {
		fmt.Fprintf(os.Stderr, "mutate: seed %s\n", *seed)
		faults = sample(faults, *n, *seed)
	}
	p := Project{root: abs, jobs: *jobs, log: os.Stderr, verbose: *verbose}
	return p.tryFaults(ctx, faults, os.Stdout)
}

// sample returns n of the faults, in their order. It selects them by a hash of the seed and the name, so that a sample
// changes little if faults are added or removed.
func sample(faults []*Fault, n int, seed string) []*Fault {
	key := func(f *Fault) []byte {
		sum := sha256.Sum256([]byte(seed + "\x00" + f.path()))
		return sum[:]
	}
	order := slices.SortedFunc(slices.Values(faults), func(a, b *Fault) int { return bytes.Compare(key(a), key(b)) })
	return slices.DeleteFunc(faults, func(f *Fault) bool { return !slices.Contains(order[:n], f) })
}
