// Package ask answers questions about images, with a typed function per question. The function
// plans from the options how the image is opened, which implementation runs, and how often the
// image is read. It returns a confirmed answer with its provenance. The command, the C library and
// the Python package call it.
package ask

import (
	"fmt"
	"time"

	"eccbench/internal/grid"
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

// plain reports whether a number of levels is of the image itself: of sublevel sets in the T-construction of all voxels.
func (o Options) plain(masked bool) bool {
	return o.Construction == "T" && !o.Superlevel && !masked && o.NaN != NaNMask
}

// An Opening says how a file is opened. The zero value has a ladder of its distinct values, in memory or in slabs.
type Opening struct {
	Every  bool // each float32 is a level, where Levels is not asked for
	Levels bool // the number of levels that was asked for is that of the ladder
	Once   bool // the image may be a source that is read once, in order
	Gaps   bool // NaN of a float32 image are masked
}

// A Naming gives the canonical name of an input that is opened in some way.
type Naming func(Opening) (string, error)

// A Follower shows people the cost and the progress of a question. Waiting and Reading return functions that end that.
type Follower interface {
	Waiting(what string) (end func())
	Reading(s grid.Source, times int64) (read grid.Source, end func())
	Missing(shown string, s grid.Source) string  // what a file lacks, grid.Missing
	Takes(shown string, need, free int64)        // the memory of an answer, before it is computed
	Checks(shown string, estimate time.Duration) // the time of its cheapest witness, likewise
}

// A Question is an image, the options, and who answers.
type Question struct {
	Options
	Input  Naming
	Mask   Naming // nil for none
	Levels int64  // evenly spaced levels, from the least value to the greatest; 0 for the image's own
	Slices bool   // each slice of a 3D image by itself

	Shown, MaskShown string // the input and the mask, for people

	Named   func(name string) string // a name, as provenances show it
	Impl    string                   // "" for the fastest that takes the image
	Threads int
	Budget  time.Duration // of the verification
	Memory  func() int64  // that is free now, 0 where that is not known; nil for the same
	Follow  Follower
}

// memory is how much memory is free, 0 where that is not known.
func (q *Question) memory() int64 {
	if q.Memory == nil {
		return 0
	}
	return q.Memory()
}

// limits returns the limits of the verification.
func (q *Question) limits() Limits { return Limits{Budget: q.Budget, Free: q.Memory} }

// verified is the verdict of confirmed answers.
const verified = string(verify.Verified)
