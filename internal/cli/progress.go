package cli

import (
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
)

// A follower shows a run's progress and keeps its records.
type follower struct {
	total   int
	weights Weights      // for the remaining time
	sum     int64        // of all weights
	done    atomic.Int64 // sum of the weights of finished cells, read by the bar's goroutine
	stderr  io.Writer
	quiet   bool
	append  func(bench.CellRecord) error // writes to the results file
	cells   []bench.CellRecord
	told    []string               // printed reasons of skipped cells
	bar     *mpb.Bar               // nil without a terminal
	close   func()                 // removes the bar
	now     atomic.Pointer[string] // current cell, read by the bar's goroutine
}

// newFollower follows the cells of plans. On a terminal it shows a bar with the remaining time;
// otherwise it prints one line per cell.
func newFollower(plans []runner.Plan, weights Weights, stderr io.Writer, quiet bool,
	appendRecord func(bench.CellRecord) error) (*follower, error) {
	f := &follower{weights: weights, stderr: stderr, quiet: quiet, append: appendRecord}
	for _, p := range plans {
		cells, err := p.Cells()
		if err != nil {
			return nil, err
		}
		f.total += len(cells)
		for _, cell := range cells {
			f.sum += weights.of(cell)
		}
	}
	f.now.Store(new(string))
	after := []decor.Decorator{
		decor.Any(func(decor.Statistics) string { return " " + *f.now.Load() + f.remainingTime() }),
	}
	if !weights.foreseen {
		after = append([]decor.Decorator{decor.Name("ETA "), decor.AverageETA(decor.ET_STYLE_GO)}, after...)
	}
	f.bar, f.close = newBar(stderr, quiet, f.sum, after...)
	return f, nil
}

func (f *follower) Begin(impl, input string) {
	if impl == "" {
		impl = "making"
	}
	now := report.VisibleText(impl + " " + input)
	f.now.Store(&now)
}

func (f *follower) End(c bench.CellRecord) error {
	f.cells = append(f.cells, c)
	if err := f.append(c); err != nil {
		return err
	}
	weight := f.weights.of(runner.Cell{Workload: c.Workload, Impl: c.Impl, Where: c.Where, Input: c.Input,
		Options: c.Options, Process: c.Process})
	f.done.Add(weight)
	switch {
	case f.bar != nil:
		f.bar.IncrInt64(weight)
	case f.quiet || c.Status == verify.Skipped && slices.Contains(f.told, c.Reason):
		// A reason for skipped cells is printed once.
	default:
		if c.Status == verify.Skipped {
			f.told = append(f.told, c.Reason)
		}
		fmt.Fprintf(f.stderr, "[%d/%d] %s %s: %s%s\n", len(f.cells), f.total, c.Impl, c.Input, outcome(c), f.remainingTime())
	}
	return nil
}

// remainingTime returns the estimated remaining time, or "" if it is short or unknown.
func (f *follower) remainingTime() string {
	rest := time.Duration(f.sum - f.done.Load())
	if !f.weights.foreseen || rest < 10*time.Second {
		return ""
	}
	return ", about " + quantity.Duration(rest.Round(time.Second)) + " left"
}

// outcome describes the result of a cell in a few words.
func outcome(c bench.CellRecord) string {
	if rate, _, _, ok := c.Rate(); ok && c.Status == verify.Verified {
		return fmt.Sprintf("%s %s", c.Status, quantity.Rate(rate, c.Cost.Unit))
	}
	if c.Reason != "" {
		return fmt.Sprintf("%s: %s", c.Status, c.Reason)
	}
	return string(c.Status)
}
