package ecc

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

type (
	law = verify.Law[grid.Source, VCEC]
	ask = verify.Ask[grid.Source, VCEC]
)

// Laws are the relations that the VCEC of every image keeps: its fingerprint, with a key
// drawn by each call, the definition at sampled levels, duality, what flips, axis swaps, relabelling and
// cutting leave unchanged, and what other ways to the curve answer. Cheap ones come first.
func Laws(eyes ...Witness) []verify.Law[grid.Source, VCEC] {
	k := fingerprint.Draw(1)
	laws := []law{
		sumsOf(Convention{}),
		Fingerprinted(k, runtime.GOMAXPROCS(0), eyes...),
		{Name: "definition at one level", Independent: true, Work: counting(1), Check: definition(1)},
		{Name: "definition at three more levels", Independent: true, Work: counting(3), Check: readFrom(definition(3))},
		{Name: "duality at one level", Independent: true, Work: counting(2), Check: duality},
		{Name: "enumeration of all cells", Independent: true, Work: enumerating, Check: enumerated},
	}
	laws = append(laws, verify.Bounded(append([]law{
		{Name: "cut at a shared slice", Calls: 1.1, Check: cut},
		{Name: "flip of the slices", Calls: 1.1, Work: viewing(1), Check: invariant(flipped('s'))},
		{Name: "flip of the rows", Calls: 1.1, Work: viewing(1), Check: invariant(flipped('x'))},
		{Name: "flip of the columns", Calls: 1.1, Work: viewing(1), Check: invariant(flipped('y'))},
		{Name: "swap of the fastest axes", Calls: 1.5, Work: viewing(5), Memory: transposing, Check: invariant(transposed)},
		{Name: "increasing relabelling", Calls: 1.5, Work: viewing(40), Check: invariant(relabelled)},
	}, otherWays()...), func(grid.Source) int64 { return verify.SlabMemory })...)
	for i, l := range laws {
		laws[i].Applies = !slices.Contains(ofSome, l.Name)
	}
	return laws
}

// ofSome are laws of what only some implementations answer.
var ofSome = []string{"each float32 a level", "sum of pieces by one job", "pieces joined by one job"}

// counting estimates the time to count the cells of so many sublevel sets: 5 ns
// for each voxel, level and core; one of an AMD EPYC takes 1 to count a voxel and 3
// to make it.
func counting(levels int) func(grid.Source) time.Duration { return viewing(5 * levels) }

// viewing is so many nanoseconds for each voxel and core: what it takes to show an image
// otherwise than it is, or to search for its values on another ladder.
func viewing(ns int) func(grid.Source) time.Duration {
	return func(s grid.Source) time.Duration {
		return time.Duration(s.Shape().Voxels()*int64(ns)/int64(runtime.GOMAXPROCS(0))) * time.Nanosecond
	}
}

// TotalOf is what the changes of an image without a mask sum to, and why: χ of all voxels
// together, a box, or a box whose opposite sides meet along some axes, which is a ring.
func TotalOf(c Convention) (chi int64, why string) {
	if c.Periodic != (grid.Axes{}) {
		return 0, "a full box that is closed to a ring has as many cells of either sign"
	}
	return 1, "a full box is contractible"
}

// sumsOf is the law that the changes sum to TotalOf.
func sumsOf(c Convention) law {
	chi, _ := TotalOf(c)
	return law{Name: fmt.Sprintf("changes sum to %d", chi), Check: func(_ grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
		var sum int64
		for _, s := range out {
			sum += s.Change
		}
		return UnlikeTotal(c, sum), nil
	}}
}

// UnlikeTotal is nil where changes sum to TotalOf.
func UnlikeTotal(c Convention, sum int64) *verify.Diff {
	chi, why := TotalOf(c)
	if sum == chi {
		return nil
	}
	return &verify.Diff{Where: "sum of all changes", Want: fmt.Sprintf("%d (%s)", chi, why), Got: fmt.Sprint(sum)}
}

// sampled draws levels to look at, the same ones every time for one image: in
// turn any level of the ladder and a level at which the answer has a step.
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

// mostListed bounds the levels of images whose cells are listed.
const mostListed = 1 << 17

// mostEnumerated is as many voxels as images have of which all cells are listed.
const mostEnumerated = 1 << 12

func enumerating(s grid.Source) time.Duration {
	const each = 500 * time.Nanosecond // voxel, with eight cells of its own
	return time.Duration(min(s.Shape().Voxels(), mostEnumerated)) * each
}

// enumerated lists all cells of a small image in memory, whose voxels are all on levels or below.
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

// unheld is an image that is read, wherever it is.
type unheld struct{ grid.Source }

// readFrom is what a law says where it has to read the image, as that of a file.
func readFrom(check func(grid.Source, VCEC, ask) (*verify.Diff, error)) func(grid.Source, VCEC, ask) (*verify.Diff, error) {
	return func(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
		return check(unheld{in}, out, answer)
	}
}

func definition(n int) func(grid.Source, VCEC, ask) (*verify.Diff, error) {
	return func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
		for _, level := range sampled(in, out, uint64(n), n) {
			want, err := Characteristic(in, level)
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
	dual, err := DualCharacteristic(in, level)
	if err != nil {
		return nil, err
	}
	if got := out.At(level); got != dual-1 {
		return atLevel(in, level, "χ = %d", dual-1, got), nil
	}
	return nil, nil
}

// cut checks χ(A) + χ(B) − χ(A∩B) = χ for two parts that share one slice.
func cut(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	n := in.Shape().Slices()
	if n < 3 {
		return nil, verify.ErrNotApplicable
	}
	m := n / 2
	sum := map[int64]int64{}
	for _, part := range []struct{ sign, lo, hi int64 }{{1, 0, m + 1}, {1, m, n}, {-1, m, m + 1}} {
		v, err := answer(grid.Crop(in, part.lo, part.hi))
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
	return func(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
		changed, err := change(in)
		if err != nil {
			return nil, err
		}
		v, err := answer(changed)
		if err != nil {
			return nil, err
		}
		return first(in, v, out), nil
	}
}

func flipped(axis byte) func(grid.Source) (grid.Source, error) {
	return func(s grid.Source) (grid.Source, error) {
		if axis == 'y' && s.Shape().D == 1 {
			return nil, verify.ErrNotApplicable // the rows of a 2D image are its slices
		}
		return grid.Flip(s, axis), nil
	}
}

// largestTransposed is the size in bytes of the largest 2D image that transposed swaps.
const largestTransposed = 1 << 30

// transposing is the memory of transposed.
func transposing(s grid.Source) int64 {
	if s.Shape().D > 1 {
		return 0
	}
	return min(grid.TotalBytes(s), largestTransposed)
}

// transposed swaps the fastest axes. A 2D image is swapped whole in memory, and
// not at all when it is larger than largestTransposed.
func transposed(s grid.Source) (grid.Source, error) {
	if s.Shape().D > 1 {
		return grid.Transpose(s), nil
	}
	if grid.TotalBytes(s) > largestTransposed {
		return nil, verify.ErrNotApplicable
	}
	return grid.Load(grid.Transpose(s))
}

func relabelled(s grid.Source) (grid.Source, error) {
	r, err := grid.Relabel(s, 1)
	if err != nil {
		return nil, verify.ErrNotApplicable
	}
	return r, nil
}
