package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
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

// maxRanks is the greatest number of values whose ranks fit one byte.
const maxRanks = math.MaxUint8

// A stored type is an element type of arrays in memory.
type stored interface {
	uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// sampled answers for images in memory at the values of r.Sets. Its only Answer has the rows of all
// images, one after the other, without levels.
func (r Request) sampled(ctx context.Context, shape grid.Shape, voxels []byte) ([]Answer, error) {
	if !r.curve() && !(r.Betti && r.Part == nil && len(r.At) == 0) || r.masked || len(r.Periodic) > 0 || r.Levels > 0 {
		return nil, errors.New("sets: want curves or Betti numbers without a mask, periodic axes or levels")
	}
	switch r.Type {
	case "uint8":
		return sampledOf(ctx, r, shape, voxels, uint64(0), math.MaxUint8, uint8(1))
	case "int16":
		return sampledOf(ctx, r, shape, voxels, int64(math.MinInt16), math.MaxInt16, int16(1))
	case "uint16":
		return sampledOf(ctx, r, shape, voxels, uint64(0), math.MaxUint16, uint16(1))
	case "int32":
		return sampledOf(ctx, r, shape, voxels, int64(math.MinInt32), math.MaxInt32, int32(1))
	case "uint32":
		return sampledOf(ctx, r, shape, voxels, uint64(0), math.MaxUint32, uint32(1))
	case "int64":
		return sampledOf(ctx, r, shape, voxels, int64(math.MinInt64), math.MaxInt64, int64(1))
	case "uint64":
		return sampledOf(ctx, r, shape, voxels, uint64(0), math.MaxUint64, uint64(1))
	case "float32":
		return sampledOf(ctx, r, shape, voxels, float64(-math.MaxFloat32), math.MaxFloat32, float32(0))
	case "float64":
		return sampledOf(ctx, r, shape, voxels, float64(-math.MaxFloat64), math.MaxFloat64, float64(0))
	}
	return nil, fmt.Errorf("element type %q: sets need integers of 16 to 64 bits, uint8, float32 and float64", r.Type)
}

// sampledOf is sampled for a type with values from least to most. step is the distance of
// neighbouring values, 0 for floats.
func sampledOf[T stored, W int64 | uint64 | float64](
	ctx context.Context, r Request, shape grid.Shape, voxels []byte, least, most W, step T,
) ([]Answer, error) {
	at := make([]T, len(r.Sets))
	for i, n := range r.Sets {
		v, err := parsed[W](n)
		if err != nil || v < least || v > most || i > 0 && T(v) <= at[i-1] {
			return nil, fmt.Errorf("set %s: want values of %s, ascending", n, r.Type)
		}
		at[i] = T(v)
	}
	if len(at) == 0 || len(at) > maxRanks {
		return nil, fmt.Errorf("%d sets: want 1 to %d", len(at), maxRanks)
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
	k := newRanking(at, T(least), T(most), step, r.Superlevel)
	return s.run(ctx, func(image int, ranks []byte, threads int) error {
		n := len(ranks)
		return k.rankAll(ctx, ranks, values[image*n:(image+1)*n], threads)
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

// A ranking replaces values by ranks: the number of given values below a value, or above it for
// superlevel sets. Each set then has the ranks up to a limit.
type ranking[T stored] struct {
	at           []T
	super        bool
	first, scale float64
	start        [ranges + 1]uint8   // start[i] is the number of at in ranges below i
	rank         [maxRanks + 1]uint8 // rank[r] is the rank of a voxel above r of at
	least, most  [maxRanks + 1]T     // of the values of each rank
	bytes        []uint8             // the ranks of all values of uint8, or nil
}

// ranges is about the number of entries that fit into a core's L1 cache together with the values.
const ranges = 2048

func newRanking[T stored](at []T, least, most, step T, super bool) *ranking[T] {
	k := &ranking[T]{at: at, super: super, first: float64(at[0])}
	m := len(at)
	if k.scale = (ranges - 1) / (float64(at[m-1]) - k.first); math.IsInf(k.scale, 0) || math.IsNaN(k.scale) {
		k.scale = 0
	}
	for i, next := 0, 0; i < len(k.start); i++ {
		for next < m && k.rangeOf(at[next]) < i {
			next++
		}
		k.start[i] = uint8(next)
	}
	for r := range m + 1 {
		lo, hi := least, most
		if r > 0 {
			lo = at[r-1]
		}
		if r < m {
			hi = at[r]
		}
		rank := r
		if super {
			rank = m - r
		}
		switch {
		case super && r < m && hi == least, !super && r > 0 && lo == most:
			lo, hi = most, least // no value has the rank
		case super && r < m:
			hi = next(hi, least, -step)
		case !super && r > 0:
			lo = next(lo, most, step)
		}
		k.rank[r], k.least[rank], k.most[rank] = uint8(rank), lo, hi
	}
	if all, ok := any(make([]T, math.MaxUint8+1)).([]uint8); ok {
		for v := range all {
			all[v] = uint8(v)
		}
		ranks := make([]uint8, len(all))
		k.rankSome(ranks, any(all).([]T))
		k.bytes = ranks
	}
	return k
}

// next returns the neighbouring value in the direction of a limit.
func next[T stored](v, limit, step T) T {
	switch x := any(v).(type) {
	case float32:
		return T(math.Nextafter32(x, float32(limit)*2))
	case float64:
		return T(math.Nextafter(x, float64(limit)*2))
	}
	return v + step
}

// rangeOf returns the range of a value. It never decreases as the value grows.
func (k *ranking[T]) rangeOf(v T) int { return int((float64(v) - k.first) * k.scale) }

// errNotFinite is the error of images with a NaN or an infinite value, without its place.
var errNotFinite = &grid.NotFiniteError{}

// rankAll writes the ranks of values, and checks each value against the limits of its rank.
func (k *ranking[T]) rankAll(ctx context.Context, ranks []byte, values []T, threads int) error {
	const chunk = 1 << 16
	chunks := (len(values) + chunk - 1) / chunk
	threads = max(1, min(threads, chunks))
	errs := make([]error, threads)
	crew.Each(threads, func(core int) {
		for c := core; c < chunks && errs[core] == nil && ctx.Err() == nil; c += threads {
			lo, hi := c*chunk, min((c+1)*chunk, len(values))
			k.rankSome(ranks[lo:hi], values[lo:hi])
			errs[core] = k.confirm(ranks[lo:hi], values[lo:hi])
		}
	})
	return errors.Join(append(errs, ctx.Err())...)
}

// rankSome writes the ranks of some values. The rank of a NaN is arbitrary.
func (k *ranking[T]) rankSome(ranks []byte, values []T) {
	at, m := k.at, len(k.at)
	first, last := at[0], at[m-1]
	if k.bytes != nil {
		for i, v := range any(values).([]uint8) {
			ranks[i] = k.bytes[v]
		}
		return
	}
	if m <= fewSets {
		k.compared(ranks, values)
		return
	}
	for i, v := range values {
		r := 0
		switch {
		case !(v >= first):
		case v > last:
			r = m
		default:
			r = int(k.start[k.rangeOf(v)])
			for r < m && at[r] < v {
				r++
			}
			if k.super && at[r] == v {
				r++
			}
		}
		ranks[i] = k.rank[r]
	}
}

// fewSets is the number of sets up to which comparison with each is faster than a table of ranges.
const fewSets = 4

// compared is some by a comparison with each set, without data-dependent branches. Pairs of sets
// need one pass.
func (k *ranking[T]) compared(ranks []byte, values []T) {
	ranks = ranks[:len(values)]
	clear(ranks)
	at := k.at
	for ; !k.super && len(at) >= 2; at = at[2:] {
		t, u := at[0], at[1]
		for i, v := range values {
			a, b := byte(0), byte(0)
			if v > t {
				a = 1
			}
			if v > u {
				b = 1
			}
			ranks[i] += a + b
		}
	}
	for _, t := range at {
		if k.super {
			for i, v := range values {
				b := byte(0)
				if v < t {
					b = 1
				}
				ranks[i] += b
			}
			continue
		}
		for i, v := range values {
			b := byte(0)
			if v > t {
				b = 1
			}
			ranks[i] += b
		}
	}
}

// confirm returns an error unless each value is within the limits of its rank.
func (k *ranking[T]) confirm(ranks []byte, values []T) error {
	bad := false
	ranks = ranks[:len(values)]
	for i, v := range values {
		r := ranks[i]
		if v < k.least[r] || v > k.most[r] || v != v { // faster than an expression
			bad = true
		}
	}
	switch {
	case !bad:
		return nil
	case slices.ContainsFunc(values, func(v T) bool { return v-v != 0 }):
		return errNotFinite
	}
	return ask.VerdictError{Status: verify.Wrong, Why: "a voxel has a wrong rank among the values that were asked for; " +
		"if another thread wrote to the array meanwhile, that is the cause: give a copy"}
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
		s.ofBettiCurves(c)
	}
	return s, nil
}

// fewBetti reports whether Betti numbers, with verification, are faster set by set than at all
// levels. An image of n voxels of noise took 350 + n/4 microseconds at all levels, and 95 + n/74
// for each set.
func fewBetti(sets, n int64) bool { return sets*(7000+n) < 18*(1400+n) }

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
	prepared := fingerprint.Prepare(grid.Uint8, s.ladder, key)
	sumOf := fingerprint.CurvesOn(s.ladder.Len(), key)
	s.columns, s.by, s.witness = 1, impl.About().Name, fmt.Sprintf("%s (key %v)", ecc.FingerprintLaw, key)
	s.counter = func(f *grid.Field, threads int) (func([]int64) error, error) {
		job, err := jobOf(impl, grid.Source(f), threads)
		return func(chi []int64) error {
			out, err := done(job)
			if err != nil {
				return err
			}
			if s.r.Verify {
				want, err := prepared.Compute(f, threads)
				if err != nil {
					return err
				}
				got, err := sumOf(out.All())
				if err := s.wrong(ecc.FingerprintLaw, ecc.UnlikeSums(want, got, key), err); err != nil {
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

// ofBettiCurves counts the Betti numbers of all sets at once, which a union-find of all voxels
// verifies.
func (s *sampling) ofBettiCurves(c ecc.Convention) {
	impl, law := bettiCurves(c).Impls[0], betti.Unions(c)
	s.columns, s.by, s.witness = 3, impl.About().Name, law.Name+" ("+law.Note+")"
	s.counter = func(f *grid.Field, threads int) (func([]int64) error, error) {
		job, err := jobOf(impl, grid.Source(f), threads)
		return func(numbers []int64) error {
			out, err := done(job)
			if err != nil {
				return err
			}
			if s.r.Verify {
				d, _, err := law.Try(f, out, nil)
				if err := s.wrong(law.Name, d, err); err != nil {
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
