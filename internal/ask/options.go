// Package ask answers questions about images, with a typed function per question. The function
// plans from the options how the image is opened, which implementation runs, and how often the
// image is read. It returns a confirmed answer with its provenance. The command, the C library and
// the Python package call it.
package ask

import (
	"fmt"
	"strconv"
	"time"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// A UsageError is an error in the options or the input, which the caller can correct.
type UsageError struct{ error }

// Unwrap returns the original error.
func (e UsageError) Unwrap() error { return e.error }

// Usage marks an error as one of the options or the input.
func Usage(err error) error { return UsageError{err} }

// Usagef returns a new UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// An OptionError is an invalid value of an option: its Python name, the value, and the valid
// values.
type OptionError struct{ Option, Value, Want string }

func (e OptionError) Error() string { return fmt.Sprintf("%s %s: %s", e.Option, e.Value, e.Want) }

// How NaN of an image is handled.
const (
	NaNRefuse = "refuse"
	NaNMask   = "mask"
)

// Options are the image options of all questions about sets. The zero value is invalid.
type Options struct {
	Construction string   `json:"construction"` // T or V
	Superlevel   bool     `json:"superlevel"`
	Periodic     []string `json:"periodic"` // axes along which the last voxels and the first are neighbours: x, y, z
	NaN          string   `json:"nan"`      // NaNRefuse or NaNMask; "" for NaNRefuse
}

// Check returns the first invalid option as an OptionError.
func (o Options) Check() error {
	if o.Construction != "T" && o.Construction != "V" {
		return OptionError{"construction", o.Construction, "want T or V"}
	}
	if o.NaN != "" && o.NaN != NaNRefuse && o.NaN != NaNMask {
		return OptionError{"nan", o.NaN, "want refuse or mask"}
	}
	return nil
}

// Gaps reports whether NaN of an image are masked. Only float32 images have any.
func (o Options) Gaps(t grid.Type) bool { return o.NaN == NaNMask && t == grid.Float32 }

// OfSets reports whether an option is given that applies only to questions about sets, not to a
// flow or a graph.
func (o Options) OfSets() bool { return len(o.Periodic) > 0 || o.NaN == NaNMask }

// Axes are the periodic axes.
func (o Options) Axes() (grid.Axes, error) { return grid.ParseAxes(o.Periodic) }

// Convention is the convention of the options for an image that has a mask or not.
func (o Options) Convention(masked bool) (ecc.Convention, error) {
	axes, err := o.Axes()
	return ecc.Convention{Vertices: o.Construction == "V", Superlevel: o.Superlevel, Periodic: axes, Masked: masked}, err
}

// plain reports whether levels are counted on the image itself: sublevel sets in the T-construction
// of all voxels.
func (o Options) plain(masked bool) bool {
	return o.Construction == "T" && !o.Superlevel && !masked && o.NaN != NaNMask
}

// An Opening describes how a file is opened. The zero value has a ladder of its distinct values, in
// memory or in slabs.
type Opening struct {
	Every  bool  // each float32 is a level, unless Levels is set
	Levels int64 // the number of evenly spaced levels of the ladder, or 0
	Once   bool  // the image may be a source that is read once, in order
	Gaps   bool  // NaN of a float32 image are masked
}

// Of returns the name of an image in files that is opened in this way. Keys that the name has already stay.
func (o Opening) Of(n datasets.Name) datasets.Name {
	set := func(key, value string, wanted bool) {
		if wanted && n.FromFiles() && n.Get(key) == "" {
			n = n.With(key, value)
		}
	}
	set("levels", strconv.FormatInt(o.Levels, 10), o.Levels > 0)
	set("levels", "every", o.Every)
	set("nan", "mask", o.Gaps && n.Generator == "file") // a stack is of integers
	set("stream", "once", o.Once)
	return n
}

// A Follower shows the cost and the progress of a question. Waiting and Reading return functions
// that end the display.
type Follower interface {
	Waiting(what string) (end func())
	Reading(s grid.Source, times int64) (read grid.Source, end func())
	Missing(shown string, s grid.Source) string // the missing parts of a file: grid.Missing
	ShowMemory(shown string, need, free int64)  // the memory of an answer, before it is computed
	Takes(shown string, estimate time.Duration) // its time with the cheapest witness, likewise
}

// A Question is an image with the options and the implementation.
type Question struct {
	Options
	Input  datasets.Name // Openings add to it
	Mask   datasets.Name // zero for none
	Levels int64         // evenly spaced levels, from the least value to the greatest; 0 for the image's own
	Slices bool          // answer for each slice of a 3D image separately

	// Bare omits the ladder and the digest of the provenance. Sets at few values of a masked image are then counted
	// without the ranks of all values that float32 does not hold, as those of other images are.
	Bare bool

	Shown, MaskShown string // displayed names of the input and the mask

	Named   func(name string) string // converts a name for provenances
	Impl    string                   // "" for the fastest that accepts the image
	Threads int
	Budget  time.Duration // of the verification
	Memory  func() int64  // free memory, 0 if unknown; nil for always unknown
	Follow  Follower

	hashes int64 // memory of the hashes of slices, which is allocated and not yet used
}

// memory returns the free memory except for hashes, or 0 if it is unknown.
func (q *Question) memory() int64 {
	if q.Memory == nil {
		return 0
	}
	free := q.Memory()
	if free <= 0 {
		return 0
	}
	return max(1, free-q.hashes)
}

// checkMemory returns an error if an answer needs more memory than is free, and reports the need otherwise. what names
// the answer with its verb: "the curve takes".
func (q *Question) checkMemory(need int64, what, remedy string) error {
	free := q.memory()
	if need += q.hashes; free > 0 {
		free += q.hashes
	}
	if err := q.fits(need, free, what, remedy); err != nil {
		return err
	}
	q.Follow.ShowMemory(q.Shown, need, free)
	return nil
}

// fits returns an error if more memory is needed than is free. 0 is free where nothing is known of it.
func (q *Question) fits(need, free int64, what, remedy string) error {
	if free <= 0 || need <= free {
		return nil
	}
	return Usagef("%s: %s %s of memory, %s are free; %s", q.Shown, what, quantity.Bytes(need), quantity.Bytes(free), remedy)
}

// MoreMemory is the remedy for an image whose slices take too much memory.
const MoreMemory = "use a machine with more, or a part of the image"

// limits returns the limits of the verification.
func (q *Question) limits() Limits { return Limits{Budget: q.Budget, Free: q.Memory} }

// verified is the verdict of confirmed answers.
const verified = string(verify.Verified)
