package ask

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"eccbench/datasets"
	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/workloads/ecc"
)

// An image is an opened image with its mask.
type image struct {
	grid.Source
	opening    Opening
	name, mask datasets.Name
	convention ecc.Convention
	// upright is the image as it is counted, and turned is the convention for its axes: see
	// views.Upright.
	upright grid.Source
	turned  ecc.Convention
	even    []float64 // evenly spaced values, if they were found while the image was opened
	placed  bool      // the answer names voxels, so the image is counted as it is
}

// Files returns the local files of the image and of its mask.
func (q *Question) Files() (local []string) {
	for _, n := range []datasets.Name{q.Input, q.Mask} {
		if !storage.IsURL(n.Get("path")) { // whose listing is requests to the server
			local = append(local, n.Files()...)
		}
	}
	return local
}

// open opens the image as specified. Only sets at the values at are counted, or all for none.
func (q *Question) open(o Opening, at []grid.Number) (i image, err error) {
	i.opening, i.name, i.mask = o, o.Of(q.Input), Opening{Every: o.Every, Once: o.Once}.Of(q.Mask)
	opened := q.Follow.Waiting("reading " + q.Shown)
	i.Source, err = OpenMasked(q.memory(), i.name, i.mask, q.ranks(&i, at))
	opened()
	if err != nil {
		return i, err
	}
	q.Follow.Missing(q.Shown, i.Source)
	if i.convention, err = q.Convention(!i.mask.IsZero() || q.Gaps(i.Type())); err == nil {
		i.turned = i.convention
		i.upright, i.turned.Periodic = views.Upright(i.Source, i.convention.Periodic)
		err = i.turned.Periodic.Check(i.upright.Shape())
	}
	if err != nil {
		return i, errors.Join(Usagef("--periodic %s: %s: %w", i.convention.Periodic, q.Shown, err), grid.Close(i.Source))
	}
	return i, nil
}

// ranks returns the representation of values that float32 does not hold: their ranks among the
// values at, or among evenly spaced values, which it sets. The digest of a provenance is then that of the file's
// voxels. It covers neither a mask nor the order of rolled slices, which need the ranks among all values.
func (q *Question) ranks(i *image, at []grid.Number) element.Ranks {
	r := element.Ranks{Superlevel: q.Superlevel, Hashed: !q.Bare}
	switch {
	case r.Hashed && (!q.Mask.IsZero() || q.Input.Get("roll") != ""):
	case len(at) > 0:
		r.At = func(*grid.Labels) []grid.Number { return at }
	case q.Levels > 0 && q.Mask.IsZero(): // a mask may exclude the ends
		r.At = func(ends *grid.Labels) []grid.Number {
			i.even, _ = q.between(ends, grid.Ranked(0), grid.Ranked(ends.Len()-1), q.Levels) // evenly reports the error
			return grid.Numbers(i.even...)
		}
	}
	return r
}

// truths ranks the values of a mask as negative, 0 and positive.
func truths(*grid.Labels) []grid.Number { return grid.Numbers(-math.SmallestNonzeroFloat64, 0) }

// OpenMasked opens an image with a memory limit. Voxels where mask is 0 are masked, unless it is zero.
func OpenMasked(memory int64, name, mask datasets.Name, ranks element.Ranks) (grid.Source, error) {
	src, err := name.OpenRanked(memory, ranks)
	if err != nil || mask.IsZero() {
		return src, err
	}
	if err := checkPlaces(name, mask, ""); err != nil {
		grid.Close(src)
		return nil, err
	}
	within, err := mask.OpenRanked(memory, element.Ranks{At: truths})
	if err != nil {
		grid.Close(src)
		return nil, errorOfOther("mask", err)
	}
	masked, err := views.Mask(src, within)
	if err != nil {
		grid.Close(src)
		grid.Close(within)
		return nil, fmt.Errorf("%s: --mask: %w", cmp.Or(strings.Join(name.Files(), ", "), name.String()), err)
	}
	return masked, nil
}

// errorOfOther returns the error of an image other than the input, which an option names. --volume does not apply to
// it.
func errorOfOther(option string, err error) error {
	if several := (format.VolumeError{}); errors.As(err, &several) && several.Asked == nil {
		return fmt.Errorf("--%s: %d volumes of %s; choose one of 0 to %d by --%[1]s file/volume=N/path=FILE", option,
			several.Count, several.Shape, several.Count-1)
	}
	return fmt.Errorf("--%s: %w", option, err)
}

// checkPlaces returns an error if the files of two images place their voxels differently in space.
// advice is added to the remedy.
func checkPlaces(name, other datasets.Name, advice string) error {
	g, err := name.Geometry()
	if err != nil || g == nil {
		return err
	}
	o, err := other.Geometry()
	if err != nil || o == nil {
		return err
	}
	if err := g.Differs(*o); err != nil {
		return fmt.Errorf("%s and %s: %w%s", name.Files()[0], other.Files()[0], err, advice)
	}
	return nil
}

// blame improves the error of an image with NaN or infinite values. The new error counts all of
// them, for which the image is opened with its distinct values.
func (q *Question) blame(i image, err error) error {
	if !i.opening.Every || i.opening.Gaps || !errors.As(err, new(*grid.NotFiniteError)) {
		return err
	}
	o := i.opening
	o.Every = false
	again, e := q.open(o, nil)
	if e != nil {
		return Usage(e)
	}
	return errors.Join(err, grid.Close(again.Source))
}

// conditions returns the conditions of answers about an image in a file.
func (q *Question) conditions() bench.Conditions {
	return bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: q.Threads}}
}

// run answers about an image that is read a number of times. It returns the provenance except the
// program.
func (q *Question) run(
	i image, times int64, answer func(asked grid.Source, p *ecc.Provenance) error,
) (p ecc.Provenance, err error) {
	p = ecc.Describe(q.Named(i.name.String()), views.Unmasked(i.Source), i.convention)
	p.Mask = q.Named(i.mask.String())
	if !q.Bare && grid.Period(i.Source) == 0 && grid.LabelsOf(i.Source).Digest() == "" {
		what, hashes := fmt.Sprintf("the hashes of %d slices take", i.Shape().Slices()), grid.DigesterBytes(i.Source)
		if err := q.fits(hashes, q.memory(), what, MoreMemory+", or --no-header of the command"); err != nil {
			return p, err
		}
		q.hashes = hashes
		defer func() { q.hashes = 0 }()
	}
	asked, digest := digested(i.Source, !q.Bare)
	if !q.Slices && !i.placed {
		asked, _ = views.Upright(asked, i.convention.Periodic)
	}
	asked, end := q.Follow.Reading(asked, times)
	err = answer(asked, &p)
	end()
	if err != nil {
		return p, q.blame(i, err)
	}
	if p.Digest, err = digest(); err != nil {
		return p, err
	}
	if q.Bare {
		p.Ladder = ""
	}
	p.Missing, p.Verdict = q.Follow.Missing(q.Shown, i.Source), verified
	return p, nil
}

// digested returns a source that is hashed while it is read if that is wanted, and a function that returns the hash or
// "". The hash of an image that repeats itself is "": its name is complete, and little of it is read. Voxels that
// are ranked among thresholds were hashed before. sum fails if a file changed while it was read.
func digested(s grid.Source, wanted bool) (read grid.Source, sum func() (string, error)) {
	if grid.Period(s) > 0 {
		return s, func() (string, error) { return "", nil }
	}
	if known := grid.LabelsOf(s).Digest(); known != "" || !wanted {
		return s, func() (string, error) { return known, grid.Unchanged(s) }
	}
	d := grid.NewDigester(s)
	sum = func() (string, error) {
		if err := grid.Unchanged(s); err != nil {
			return "", err
		}
		return d.Sum()
	}
	if _, whole := s.(*grid.Field); whole {
		return s, sum
	}
	return d, sum
}
