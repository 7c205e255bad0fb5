package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"unsafe"

	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A sampled curve is χ at a few values. Each voxel is replaced by its rank, the number of those
// values below it (or above it, for superlevel sets). An image of any type then has few levels.

// sampled answers for images in memory at the values of r.Sets. Its only Answer has the rows of all
// images, one after the other, without levels.
func (r Request) sampled(ctx context.Context, shape grid.Shape, voxels, mask []byte) ([]Answer, error) {
	if !r.curve() && !(r.Betti && r.Part == nil && len(r.At) == 0) || len(r.Periodic) > 0 || r.Levels > 0 {
		return nil, errors.New("sets: want curves or Betti numbers without periodic axes or levels")
	}
	switch r.Type {
	case "uint8":
		return sampledOf[uint8](ctx, r, shape, voxels, mask, uint64(0), math.MaxUint8)
	case "int16":
		return sampledOf[int16](ctx, r, shape, voxels, mask, int64(math.MinInt16), math.MaxInt16)
	case "uint16":
		return sampledOf[uint16](ctx, r, shape, voxels, mask, uint64(0), math.MaxUint16)
	case "int32":
		return sampledOf[int32](ctx, r, shape, voxels, mask, int64(math.MinInt32), math.MaxInt32)
	case "uint32":
		return sampledOf[uint32](ctx, r, shape, voxels, mask, uint64(0), math.MaxUint32)
	case "int64":
		return sampledOf[int64](ctx, r, shape, voxels, mask, int64(math.MinInt64), math.MaxInt64)
	case "uint64":
		return sampledOf[uint64](ctx, r, shape, voxels, mask, uint64(0), math.MaxUint64)
	case "float32":
		return sampledOf[float32](ctx, r, shape, voxels, mask, float64(-math.MaxFloat32), math.MaxFloat32)
	case "float64":
		return sampledOf[float64](ctx, r, shape, voxels, mask, float64(-math.MaxFloat64), math.MaxFloat64)
	}
	return nil, fmt.Errorf("element type %q: sets need integers of 16 to 64 bits, uint8, float32 and float64", r.Type)
}

// sampledOf is sampled for a type with values from least to most.
func sampledOf[T grid.Scalar, W int64 | uint64 | float64](
	ctx context.Context, r Request, shape grid.Shape, voxels, mask []byte, least, most W,
) ([]Answer, error) {
	at := make([]T, len(r.Sets))
	for i, n := range r.Sets {
		v, err := parsed[W](n)
		if err != nil || v < least || v > most || i > 0 && T(v) <= at[i-1] {
			return nil, fmt.Errorf("set %s: want values of %s, ascending", n, r.Type)
		}
		at[i] = T(v)
	}
	if len(at) == 0 || len(at) > grid.MaxRanks {
		return nil, fmt.Errorf("%d sets: want 1 to %d", len(at), grid.MaxRanks)
	}
	size, first := unsafe.Sizeof(at[0]), unsafe.Pointer(unsafe.SliceData(voxels))
	if int64(len(voxels)) != int64(r.Images)*shape.Voxels()*int64(size) || uintptr(first)%size != 0 {
		return nil, fmt.Errorf("%d bytes of %d images: want aligned %s", len(voxels), r.Images, r.Type)
	}
	values := unsafe.Slice((*T)(first), len(voxels)/int(size))
	s, err := newSampling(r, shape, len(at))
	if err != nil {
		return nil, err
	}
	k := grid.NewRanking(at, r.Superlevel)
	return s.run(ctx, func(image int, ranks []byte, threads int) error {
		n := len(ranks)
		err := rankAll(ctx, k, ranks, values[image*n:(image+1)*n], threads)
		if err == nil && r.masked {
			for i, within := range mask[image*n : (image+1)*n] {
				if within == 0 {
					ranks[i] = byte(len(at)) // in no set
				}
			}
		}
		return err
	})
}

// parsed returns a number as one of three types.
func parsed[W int64 | uint64 | float64](n json.Number) (v W, err error) {
	switch p := any(&v).(type) {
	case *int64:
		*p, err = strconv.ParseInt(n.String(), 10, 64)
	case *uint64:
		*p, err = strconv.ParseUint(n.String(), 10, 64)
	case *float64:
		*p, err = strconv.ParseFloat(n.String(), 64)
	}
	return v, err
}

// rankAll writes the ranks of values, and checks each value against the limits of its rank.
func rankAll[T grid.Scalar](ctx context.Context, k *grid.Ranking[T], ranks []byte, values []T, threads int) error {
	const chunk = 1 << 16
	chunks := (len(values) + chunk - 1) / chunk
	threads = max(1, min(threads, chunks))
	errs := make([]error, threads)
	crew.Each(threads, func(core int) {
		for c := core; c < chunks && errs[core] == nil && ctx.Err() == nil; c += threads {
			lo, hi := c*chunk, min((c+1)*chunk, len(values))
			k.Rank(ranks[lo:hi], values[lo:hi])
			errs[core] = k.Confirm(ranks[lo:hi], values[lo:hi])
		}
	})
	err := errors.Join(append(errs, ctx.Err())...)
	if errors.Is(err, grid.ErrRanks) {
		return ask.VerdictError{Status: verify.Wrong, Why: grid.ErrRanks.Error() +
			"; if another thread wrote to the array meanwhile, that is the cause: give a copy"}
	}
	return err
}

// A sampling counts images whose voxels are ranked.
type sampling struct {
	r           Request
	shape       grid.Shape
	ladder      grid.Ladder
	sets        int
	columns     int // numbers of each set
	by, witness string
	// counter returns a function that counts and verifies the numbers of the sets of a field. The
	// function is reused for the next image in the same memory. The V-construction needs a new one,
	// because its views belong to one image.
	counter func(f *grid.Field, threads int) (count func(numbers []int64) error, err error)
}

// run answers for all images, small ones in parallel.
func (s *sampling) run(ctx context.Context, rank func(image int, ranks []byte, threads int) error) ([]Answer, error) {
	rows := sampledRows{make([]int64, s.r.Images*s.sets*s.columns), int64(s.columns)}
	n := int(s.shape.Voxels())
	type state struct {
		field *grid.Field
		count func(numbers []int64) error
	}
	states := sync.Pool{}
	err := crew.EachImage(s.r.Images, n, s.r.Threads, func(i, threads int) (err error) {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, _ := states.Get().(*state)
		if one == nil {
			one = &state{}
			if one.field, err = grid.Trusted(s.shape, grid.Uint8, grid.NewBuffer(int64(n)), s.ladder); err != nil {
				return err
			}
		}
		if err := rank(i, one.field.Data(), threads); err != nil {
			return err
		}
		if one.count == nil || s.r.Construction == "V" {
			if one.count, err = s.counter(one.field, threads); err != nil {
				return err
			}
		}
		err = one.count(rows.numbers[i*s.sets*s.columns:][:s.sets*s.columns])
		states.Put(one)
		return err
	})
	if err != nil {
		return nil, err
	}
	a := Answer{
		Shape: s.r.Shape, Type: s.r.Type, Rows: int64(s.r.Images * s.sets), Implementation: s.by,
		Verdict: string(verify.Unverified), lines: rows,
	}
	if s.r.Verify {
		a.Verdict, a.Witness = string(verify.Verified), s.witness
	}
	return []Answer{a}, nil
}

// newSampling returns the sampling of a request with a number of sets.
func newSampling(r Request, shape grid.Shape, sets int) (*sampling, error) {
	ladder, err := grid.Affine(0, 1, int64(sets+1))
	if err != nil {
		return nil, err
	}
	s := &sampling{r: r, shape: shape, ladder: ladder, sets: sets}
	c := ecc.Convention{Vertices: r.Construction == "V"}
	switch {
	case !r.Betti:
		s.ofCurves(c)
	case fewBetti(int64(sets), shape.Voxels()):
		s.ofBetti(c)
	default:
		s.ofBettiCurves(bettiCurves(c).Impls[0], c)
	}
	return s, nil
}

// fewBetti reports whether Betti numbers, with verification, are faster set by set than at all
// levels. Noise of n voxels took as long at all levels as 3 sets up to 16³ voxels, as 5 of 32³, and
// as 18 sets of large images.
func fewBetti(sets, n int64) bool { return sets*(200_000+n) < 18*(33_000+n) }

// jobOf returns the job of an implementation for an input, or an error if it rejects the input.
func jobOf[In, Out any](impl bench.Implementation[In, Out], in In, threads int) (bench.Job[Out], error) {
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}
	if err := impl.CanDo(in, c); err != nil {
		return nil, err
	}
	return impl.Setup(in, c)
}

// done runs a job once more and returns its answer.
func done[Out any](job bench.Job[Out]) (out Out, err error) {
	if err := job.Do(nil); err != nil {
		return out, err
	}
	return job.Out()
}

// wrong returns the error of an answer that violates a law, or nil.
func (s *sampling) wrong(law string, d *verify.Diff, err error) error {
	if err != nil || d == nil {
		return err
	}
	why := fmt.Sprintf("the answer by %s is WRONG and is not given: %s: %v", s.by, law, d)
	return ask.VerdictError{Status: verify.Wrong, Why: why}
}

// ofCurves counts the Euler characteristic, which the fingerprint of the ranks verifies.
func (s *sampling) ofCurves(c ecc.Convention) {
	w := bench.Workload[grid.Source, ecc.VCEC]{Impls: s.r.by}
	if w.Impls == nil {
		w.Impls = Implementations()[:1]
	}
	impl := ecc.InConvention(w, c).Impls[0]
	key := fingerprint.Draw(1).WithConvention(c).ForLevels(s.ladder.Len())
	confirm := s.fingerprinted(key)
	s.columns, s.by, s.witness = 1, impl.About().Name, fmt.Sprintf("%s (key %v)", ecc.FingerprintLaw, key)
	s.counter = func(f *grid.Field, threads int) (func([]int64) error, error) {
		job, err := jobOf(impl, grid.Source(f), threads)
		return func(chi []int64) error {
			out, err := done(job)
			if err != nil {
				return err
			}
			if s.r.Verify {
				if err := confirm(f, out, threads); err != nil {
					return err
				}
			}
			total, next := int64(0), 0
			for j := range chi {
				for ; next < len(out) && out[next].Level <= int64(j); next++ {
					total += out[next].Change
				}
				chi[j] = total
			}
			return nil
		}, err
	}
}

// fingerprinted returns a function that compares the fingerprint of the ranks with that of their curve.
func (s *sampling) fingerprinted(key fingerprint.Key) func(*grid.Field, ecc.VCEC, int) error {
	prepared := fingerprint.Prepare(grid.Uint8, s.ladder, key)
	sumOf := fingerprint.CurvesOn(s.ladder.Len(), key)
	return func(f *grid.Field, changes ecc.VCEC, threads int) error {
		want, err := prepared.Compute(f, threads)
		if err != nil {
			return err
		}
		got, err := sumOf(changes.All())
		return s.wrong(ecc.FingerprintLaw, ecc.UnlikeSums(want, got, key), err)
	}
}

// ofBetti counts the Betti numbers set by set, which a flood fill verifies.
func (s *sampling) ofBetti(c ecc.Convention) {
	impl, law := BettiAt(c).Impls[0], betti.Flooding(c)
	s.columns, s.by, s.witness = 3, impl.About().Name, law.Name
	s.counter = func(f *grid.Field, threads int) (func([]int64) error, error) {
		jobs, inputs := make([]bench.Job[betti.Numbers], s.sets), make([]*betti.Image, s.sets)
		for j := range jobs {
			var err error
			inputs[j] = &betti.Image{Source: f, Threshold: float32(j)}
			if jobs[j], err = jobOf(impl, inputs[j], threads); err != nil {
				return nil, err
			}
		}
		return func(numbers []int64) error {
			for j, job := range jobs {
				out, err := done(job)
				if err != nil {
					return err
				}
				if s.r.Verify {
					d, _, err := law.Try(inputs[j], out, nil)
					if err := s.wrong(law.Name, d, err); err != nil {
						return err
					}
				}
				numbers[3*j], numbers[3*j+1], numbers[3*j+2] = out.B0, out.B1, out.B2
			}
			return nil
		}, nil
	}
}

// ofBettiCurves counts the Betti numbers of all sets at once, which a union-find of all voxels and
// the fingerprint verify.
func (s *sampling) ofBettiCurves(impl bench.Implementation[grid.Source, betti.Curves], c ecc.Convention) {
	key, compare := fingerprint.Draw(1).WithConvention(c).ForLevels(s.ladder.Len()), betti.CompareUnions(c)
	confirm := s.fingerprinted(key)
	s.columns, s.by, s.witness = 3, impl.About().Name, fmt.Sprintf("%s (key %v)", betti.UnionsLaw, key)
	s.counter = func(f *grid.Field, threads int) (func([]int64) error, error) {
		job, err := jobOf(impl, grid.Source(f), threads)
		return func(numbers []int64) error {
			out, err := done(job)
			if err != nil {
				return err
			}
			if s.r.Verify {
				d, err := compare(f, out)
				if err := s.wrong(betti.UnionsLaw, d, err); err != nil {
					return err
				}
				if err := confirm(f, out.Euler(), threads); err != nil {
					return err
				}
			}
			next := 0
			for j := range s.sets {
				to := numbers[3*j : 3*j+3]
				if j > 0 {
					copy(to, numbers[3*j-3:])
				}
				for ; next < len(out) && out[next].Level <= int64(j); next++ {
					to[0], to[1], to[2] = to[0]+out[next].B0, to[1]+out[next].B1, to[2]+out[next].B2
				}
			}
			return nil
		}, err
	}
}

// sampledRows are the numbers of each set of each image, without levels.
type sampledRows struct {
	numbers []int64
	each    int64
}

func (l sampledRows) columns() int64 { return l.each }

func (l sampledRows) fill(t *table) { t.numbers = append(t.numbers, l.numbers...) }
