package ecc

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/fingerprint"
)

type (
	law = verify.Law[grid.Source, VCEC]
	ask = verify.Ask[grid.Source, VCEC]
)

// Laws lists the relations that the VCEC of every image satisfies, cheap ones first:
//
//   - the fingerprint with a random key
//   - the definition at sampled levels, duality, and the enumeration of all cells
//   - additivity under cutting
//   - invariance under flips, axis swaps and relabelling
//   - agreement with the curve on each float32
func Laws() []verify.Law[grid.Source, VCEC] {
	k := fingerprint.Draw(1)
	laws := []law{
		sumsOf(Convention{}),
		Fingerprinted(k, runtime.GOMAXPROCS(0)),
		{Name: "definition at one level", Independent: true, Work: counting(1), Check: definition(1)},
		{Name: "definition at three more levels", Independent: true, Work: counting(3), Check: readFrom(definition(3))},
		{Name: "duality at one level", Independent: true, Work: counting(2), Check: duality},
		{Name: "enumeration of all cells", Independent: true, Work: enumerating, Check: enumerated},
	}
	laws = append(laws, verify.Bounded([]law{
		{Name: "cut at a shared slice", Calls: 1.1, Check: cut},
		{Name: "flip of the slices", Calls: 1.1, Work: viewing(1), Check: invariant(Flipped('s'))},
		{Name: "flip of the rows", Calls: 1.1, Work: viewing(1), Check: invariant(Flipped('x'))},
		{Name: "flip of the columns", Calls: 1.1, Work: viewing(1), Check: invariant(Flipped('y'))},
		{Name: "swap of the fastest axes", Calls: 1.5, Work: viewing(5), Memory: transposing, Check: invariant(Transposed)},
		{Name: "increasing relabelling", Calls: 1.5, Work: viewing(40), Check: invariant(relabelled)},
		{Name: everyLaw, Calls: 1.5, Work: viewing(80), Check: everyFloat32},
	}, func(grid.Source) int64 { return verify.SlabMemory })...)
	for i, l := range laws {
		laws[i].Applies = l.Name != everyLaw
	}
	return laws
}

// everyLaw is the law that only some implementations can be asked about: most keep a table of levels.
const everyLaw = "each float32 a level"

// counting estimates the time to count the cells of sublevel sets: 5 ns per voxel, level and core.
// A core of an AMD EPYC needs 1 ns to count a voxel and 3 ns to generate it.
func counting(levels int) func(grid.Source) time.Duration { return viewing(5 * levels) }

// viewing estimates a time of ns nanoseconds per voxel and core: to read a view of an image, or to
// search for its values on another ladder.
func viewing(ns int) func(grid.Source) time.Duration {
	return func(s grid.Source) time.Duration {
		return time.Duration(s.Shape().Voxels()*int64(ns)/int64(runtime.GOMAXPROCS(0))) * time.Nanosecond
	}
}

// totalOf returns the sum of all changes of an unmasked image, and the reason. It is χ of the full
// box: 1, or 0 if an axis is periodic.
func totalOf(c Convention) (chi int64, why string) {
	if c.Periodic != (grid.Axes{}) {
		return 0, "a full box that is closed to a ring has as many cells of either sign"
	}
	return 1, "a full box is contractible"
}

// sumsOf is the law that the changes sum to totalOf.
func sumsOf(c Convention) law {
	chi, _ := totalOf(c)
	return law{Name: fmt.Sprintf("changes sum to %d", chi),
		Check: func(_ grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
			var sum int64
			for _, s := range out {
				sum += s.Change
			}
			return UnlikeTotal(c, sum), nil
		}}
}

// UnlikeTotal returns nil if a sum of changes equals totalOf.
func UnlikeTotal(c Convention, sum int64) *verify.Diff {
	chi, why := totalOf(c)
	if sum == chi {
		return nil
	}
	return &verify.Diff{Where: "sum of all changes", Want: fmt.Sprintf("%d (%s)", chi, why), Got: fmt.Sprint(sum)}
}

// sampled chooses levels to examine, always the same for the same image and answer. It alternates
// between any level of the ladder and levels at which the answer has a step.
func sampled(in grid.Source, out VCEC, stream uint64, n int) []int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%v %v %s %d", in.Shape(), in.Type(), in.Ladder().Key(), len(out))
	rng := rand.New(rand.NewPCG(h.Sum64(), stream))
	levels := make([]int64, n)
	for i := range levels {
		levels[i] = rng.Int64N(in.Ladder().Len())
		if i%2 == 0 && len(out) > 0 {
			levels[i] = out[rng.IntN(len(out))].Level
		}
	}
	return levels
}

// mostListed is the largest number of levels for enumerated.
const mostListed = 1 << 17

// mostEnumerated is the largest number of voxels for enumerated.
const mostEnumerated = 1 << 12

func enumerating(s grid.Source) time.Duration {
	const each = 500 * time.Nanosecond // per voxel, which has eight cells of its own
	return time.Duration(min(s.Shape().Voxels(), mostEnumerated)) * each
}

// enumerated compares the answer with Enumerate, for a small image in memory without values above
// the last level.
func enumerated(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
	f, ok := in.(*grid.Field)
	n := in.Ladder().Len()
	if !ok || f.Shape().Voxels() > mostEnumerated || n > mostListed {
		return nil, verify.ErrNotApplicable
	}
	if slices.ContainsFunc(f.Floats(), func(v float32) bool { return in.Ladder().Level(v) == n }) {
		return nil, verify.ErrNotApplicable
	}
	return first(in, Enumerate(f), out), nil
}

// streamed hides that an image is in memory, so that it is read by slabs.
type streamed struct{ grid.Source }

// readFrom applies a law to an image that it must read by slabs, as from a file.
func readFrom(check func(grid.Source, VCEC, ask) (*verify.Diff, error)) func(
	grid.Source, VCEC, ask) (*verify.Diff, error) {
	return func(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
		return check(streamed{in}, out, answer)
	}
}

func definition(n int) func(grid.Source, VCEC, ask) (*verify.Diff, error) {
	return func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
		for _, level := range sampled(in, out, uint64(n), n) {
			want, err := cells.Characteristic(in, level)
			if err != nil {
				return nil, err
			}
			if got := out.At(level); got != want {
				return atLevel(in, level, "χ = %d", want, got), nil
			}
		}
		return nil, nil
	}
}

func duality(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
	level := sampled(in, out, 0, 1)[0]
	dual, err := cells.DualCharacteristic(in, level)
	if err != nil {
		return nil, err
	}
	if got := out.At(level); got != dual-1 {
		return atLevel(in, level, "χ = %d", dual-1, got), nil
	}
	return nil, nil
}

// cut checks χ(A) + χ(B) − χ(A∩B) = χ for two slabs that share one slice.
func cut(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	n := in.Shape().Slices()
	if n < 3 {
		return nil, verify.ErrNotApplicable
	}
	m := n / 2
	sum := map[int64]int64{}
	for _, part := range []struct{ sign, lo, hi int64 }{{1, 0, m + 1}, {1, m, n}, {-1, m, m + 1}} {
		v, err := answer(views.Crop(in, part.lo, part.hi))
		if err != nil {
			return nil, err
		}
		for _, s := range v {
			sum[s.Level] += part.sign * s.Change
		}
	}
	return first(in, fromMap(sum), out), nil
}

func invariant(change func(grid.Source) (grid.Source, error)) func(grid.Source, VCEC, ask) (*verify.Diff, error) {
	return verify.Invariant(change, first)
}

// Flipped returns the change of an image to its view in reverse along an axis (see views.Flip).
func Flipped(axis byte) func(grid.Source) (grid.Source, error) {
	return func(s grid.Source) (grid.Source, error) {
		if axis == 'y' && s.Shape().D == 1 {
			return nil, verify.ErrNotApplicable // the rows of a 2D image are its slices
		}
		return views.Flip(s, axis), nil
	}
}

// largestTransposed is the largest 2D image that Transposed swaps, in bytes.
const largestTransposed = 1 << 30

// transposing returns the memory that Transposed allocates.
func transposing(s grid.Source) int64 {
	if s.Shape().D > 1 {
		return 0
	}
	return min(grid.TotalBytes(s), largestTransposed)
}

// Transposed swaps the fastest axes. It loads a 2D image into memory, and does not apply to larger
// ones than largestTransposed.
func Transposed(s grid.Source) (grid.Source, error) {
	if s.Shape().D > 1 {
		return views.Transpose(s), nil
	}
	if grid.TotalBytes(s) > largestTransposed {
		return nil, verify.ErrNotApplicable
	}
	return grid.Load(views.Transpose(s))
}

func relabelled(s grid.Source) (grid.Source, error) {
	r, err := views.Relabel(s, 1)
	if err != nil {
		return nil, verify.ErrNotApplicable
	}
	return r, nil
}
