package windowed

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/ondevice"
)

// OnDevice runs the method on an NVIDIA device (kernels/eigenmap/eigenmap_near.cu). It stores no
// weights: each product computes them again.
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.OnDevice("windowed-gpu",
		"Lanczos' method on near weights, made anew in float32, and residuals of all in float64 corrected in its "+
			"basis", "doc/proofs/eigenmap.md", bench.Kernel, bench.Device, bench.E2E)
}

// mostColumns is the maximum number of vectors on a device.
const mostColumns = 1024

// devicePairNS is the estimated time per pair of patches, over all steps.
const devicePairNS = 1

// columns returns the number of vectors for a problem.
func columns(p *eigenmap.Problem) int64 { return min(p.Nodes().Voxels(), mostColumns) }

// CanDo rejects a problem that takes too long, or does not fit the device or the kernels' integers.
func (o OnDevice) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	d, err := ondevice.CanDo(o.Open, p, c, eigenmap.Patch)
	if err != nil {
		return err
	}
	n, k := p.Nodes().Voxels(), int64(p.K)
	if n > math.MaxInt32 {
		return fmt.Errorf("%d patches; the kernels support at most %d", n, math.MaxInt32)
	}
	if p.K >= mostBasis/2 && n > mostColumns {
		return fmt.Errorf("finds up to %d pairs", mostBasis/2-1)
	}
	if err := c.Allow(quantity.Seconds(estimatedKept(p)*devicePairNS*1e-9), "%.3g pairs of patches × %d ns",
		estimatedKept(p), devicePairNS); err != nil {
		return err
	}
	if err := c.AllowMemory(8*n*(8*k+8)+16*p.Shape().Voxels(), "the image, and vectors of %d numbers", n); err != nil {
		return err
	}
	return resident.Fits(d, ondevice.Bytes(p, columns(p))+3*8*ondevice.Rows(p),
		fmt.Sprintf("%d vectors of %d numbers", columns(p), n))
}

// Setup loads the kernels and copies the resident data to the device.
func (o OnDevice) Setup(p *eigenmap.Problem, c bench.Conditions) (_ bench.Job[eigenmap.Map], err error) {
	rows, suffix, j := 8*ondevice.Rows(p), ondevice.Suffix(p), &deviceJob{}
	if j.Job, err = ondevice.Open(o.Open, p, c, ondevice.Plan{
		Module: "eigenmap_near", Kernels: []string{nearProduct + suffix, nearDifferences + suffix, nearDegrees + suffix},
		Columns: columns(p), Narrow: true, Least: shortest,
		Buffers: []ondevice.Buffer{{To: &j.degrees, Name: "degrees", Bytes: rows}, {To: &j.from, Name: "vector", Bytes: rows},
			{To: &j.to, Name: "product", Bytes: rows}},
	}); err != nil {
		return nil, err
	}
	return j, nil
}

var _ bench.DeviceJob = (*deviceJob)(nil)

type deviceJob struct {
	*ondevice.Job
	degrees, from, to device.Buffer
	reach             int32 // of the weights in float64
}

// Do computes the answer on the device. If the scope includes it, Do first copies the patches.
func (j *deviceJob) Do(trace *bench.Trace) error {
	return j.Answer(trace, func() error { return j.answer(trace) })
}

// The kernels, whose names end with a suffix for the patches; the tiles of patches; and the
// threads.
const (
	nearProduct, nearDifferences, nearDegrees = "eigenmap_near_product", "eigenmap_near_differences",
		"eigenmap_near_degrees"

	tileWide, tileHigh = 32, 2
	tileBlock          = 256
)

// launchNear launches a kernel for all patches, with weights up to a reach.
func (j *deviceJob) launchNear(kernel string, reach int32, args ...any) error {
	s, q := j.Problem.Nodes(), j.Patches
	blocks := (s.W + tileWide - 1) / tileWide * ((s.H + tileHigh - 1) / tileHigh) * s.D
	return j.Launch(kernel+ondevice.Suffix(j.Problem), blocks, tileBlock, 0,
		append([]any{q.Features, q.Words, q.Squares, int32(s.W), int32(s.H), int32(s.D), reach}, args...)...)
}

func (j *deviceJob) answer(trace *bench.Trace) error {
	end := trace.Span("degrees")
	degrees, err := j.count()
	end()
	if err != nil {
		return err
	}
	kernel := kernelOf(j.Map, degrees)
	if j.Problem.K == 1 {
		return nil
	}
	end = trace.Span("lanczos")
	t, coefficients, err := j.basis(kernel)
	end()
	if err != nil {
		return err
	}
	defer trace.Span("correct")()
	scaled := make([]float64, len(kernel))
	host := &graph{n: len(kernel), threads: runtime.GOMAXPROCS(0)}
	return corrector{
		apply: func(to, from [][]float64) error {
			for k, x := range from {
				for i, v := range x {
					scaled[i] = v / math.Sqrt(degrees[i])
				}
				if err := errors.Join(
					resident.Write(j.Stream, j.from, 0, scaled),
					j.launchNear(nearDifferences, j.reach, j.Patches.ByFeature, j.Patches.ByPlace, j.from, j.Steps.Scale, j.to),
					resident.Read(j.Stream, to[k], j.to, 0)); err != nil {
					return err
				}
			}
			return nil
		},
		guess: func(to [][]float64) error { return j.Steps.Combine(to, coefficients) },
		correction: func(rest []float64, value float64, pair int) ([]float64, error) {
			return j.correction(t, coefficients[pair], rest, value)
		},
		orthogonal: host.orthogonal, kernel: kernel, basis: mostBasis,
	}.pairs(j.Map, j.Problem.Tol, mostCorrections)
}

// count computes the degrees and D^−½, with a reach beyond which weights are negligible.
func (j *deviceJob) count() ([]float64, error) {
	s := j.Problem.Nodes()
	n := int(s.Voxels())
	degrees, longest := make([]float64, n), farthest(s)
	for exponent := math.Log(float64(n) / precision); ; exponent *= 2 {
		// Weights beyond the reach sum to at most "left" in each row; otherwise the reach is
		// extended.
		left := float64(n) * math.Exp(-exponent)
		j.reach = int32(math.Min(math.Ceil(j.Problem.Beta*math.Sqrt(2*exponent)), longest))
		if err := errors.Join(
			j.launchNear(nearDegrees, j.reach, j.Patches.ByFeature, j.Patches.ByPlace, j.degrees, j.Steps.Scale),
			resident.Read(j.Stream, degrees, j.degrees, 0)); err != nil {
			return nil, err
		}
		if float64(j.reach) >= longest || left <= precision*slices.Min(degrees) {
			return degrees, ondevice.Isolated(degrees)
		}
	}
}

// shortest is the minimum length of a remaining vector, unless the space is complete.
const shortest = 1e-10

// The first test of T, and the distance to the next test relative to the number of steps.
const firstLook, nextLook = 24, 0.25

// stepTo runs steps up to a number of columns. It returns the number of columns with a diagonal entry.
func (j *deviceJob) stepTo(look, whole int, product func(column int64) error) (last int, err error) {
	s := j.Steps
	for s.NewColumns() < look && !s.Full() {
		if err := s.Step(product); err != nil {
			return 0, err
		}
	}
	if last = s.NewColumns(); s.Full() || last == whole {
		return last, s.FinishDiagonal(product)
	}
	return last - 1, nil // the entry of the last column is still missing
}

// basis runs steps in the complement of the kernel until the lowest pairs have the precision of
// float32. It returns T and the coefficients of their vectors.
func (j *deviceJob) basis(kernel []float64) (t ondevice.Tridiagonal, coefficients [][]float64, err error) {
	wanted, n := j.Problem.K-1, len(kernel)
	whole := n - 1 // number of steps
	q, s := j.Patches, j.Steps
	reach := int32(window(j.Problem))
	product := func(column int64) error {
		return j.launchNear(nearProduct, reach, ondevice.Binary(q.ByFeature), ondevice.Binary(q.ByPlace), s.V, s.Q,
			column*ondevice.Rows(j.Problem), s.Scale, s.Z)
	}
	start := func(seed uint64) error {
		v := make([]float64, n)
		for i := range v {
			v[i] = eigenmap.Uniform(seed, uint64(i))
		}
		return s.Start(v)
	}
	if err := errors.Join(s.Begin(kernel), start(1)); err != nil {
		return t, nil, err
	}
	enough := max(1e-9, j.Problem.Tol/10)
	begun := 0 // steps before the current invariant space
	for seed, look := uint64(2), min(max(firstLook, 2*wanted), whole); ; {
		last, err := j.stepTo(look, whole, product)
		if err != nil {
			return t, nil, err
		}
		if t, err = s.T(last); err != nil {
			return t, nil, err
		}
		if short := slices.IndexFunc(t.OffDiagonal[begun:max(begun, last-1)],
			func(b float64) bool { return b <= shortest }); short >= 0 {
			// The invariant space is complete; start another one.
			begun += short + 1
			s.Forget(begun)
			if err := errors.Join(s.Cut(begun-1), start(seed)); err != nil {
				return t, nil, err
			}
			seed++
			continue
		}
		var left float64
		if _, coefficients, err = t.Lowest(min(wanted, last)); err != nil {
			return t, nil, err
		}
		for _, c := range coefficients {
			left = max(left, t.OffDiagonal[last-1]*math.Abs(c[last-1]))
		}
		if full := s.Full() || last == whole; full || left <= enough && len(coefficients) == wanted {
			return t, coefficients, nil // a full basis may need more corrections
		}
		look = min(s.NewColumns()+max(1, int(nextLook*float64(s.NewColumns()))), whole)
	}
}

// correction solves by T within the basis, in the complement of the pair's own vector, and treats L
// as I outside it.
func (j *deviceJob) correction(t ondevice.Tridiagonal, own, rest []float64, value float64) ([]float64, error) {
	c, err := j.Steps.Components(rest, len(own))
	if err != nil {
		return nil, err
	}
	solved := slices.Clone(c)
	if err := t.Correct(value, own, solved); err != nil {
		return nil, err
	}
	axpy(-1, c, solved)
	out := zeros(1, len(rest))
	if err := j.Steps.Combine(out, [][]float64{solved}); err != nil {
		return nil, err
	}
	axpy(1, rest, out[0])
	return out[0], nil
}
