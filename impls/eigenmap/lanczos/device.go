package lanczos

import (
	"errors"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/ondevice"
)

// OnDevice runs the method on an NVIDIA device (kernels/eigenmap/eigenmap_dense.cu). It stores only
// half of the symmetric matrix.
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.OnDevice("lanczos-gpu",
		"half of the dense matrix in float64, the mirror of the other, and Lanczos' method with full "+
			"reorthogonalisation", "Cheng et al. 2014, routines 1 and 2, algorithm 1",
		bench.Kernel, bench.Device, bench.E2E)
}

// tileNumbers is the number of entries of a tile of the matrix
// (kernels/eigenmap/eigenmap_dense.cu).
const tileNumbers = ondevice.Chunk * ondevice.Chunk

// The kernels. A suffix for the patches completes the name of the first one.
const weigh, product, row, degree = "eigenmap_weights", "eigenmap_dense_product", "eigenmap_dense_rows",
	"eigenmap_dense_degrees"

const (
	tileBlock = 256
	rowsBlock = 512
)

// tilesOf returns the number of tiles along a side of the matrix, and in its half.
func tilesOf(p *eigenmap.Problem) (side, all int64) {
	side = ondevice.Rows(p) / ondevice.Chunk
	return side, side * (side + 1) / 2
}

// Estimated nanoseconds per entry of the matrix: to compute it, and per step.
const devicePairNS, deviceStepNS = 0.01, 0.002

// CanDo rejects a problem that takes too long, or does not fit the device or the kernels' integers.
func (o OnDevice) CanDo(p *eigenmap.Problem, c bench.Conditions) error {
	d, err := ondevice.CanDo(o.Open, p, c, eigenmap.Lanczos)
	if err != nil {
		return err
	}
	n, steps := p.Nodes().Voxels(), int64(p.Steps)
	each := devicePairNS + deviceStepNS*float64(steps)
	if err := c.Allow(quantity.Seconds(float64(n*n)*each*1e-9), "%d² patches × %.3g ns", n, each); err != nil {
		return err
	}
	if err := c.AllowMemory(8*n*(int64(p.K)+steps+8)+16*p.Shape().Voxels(), "the image, and %d vectors of %d numbers",
		steps, n); err != nil {
		return err
	}
	side, tiles := tilesOf(p)
	need := 8*tileNumbers*tiles + 8*(side+1)*ondevice.Rows(p) + ondevice.Bytes(p, steps)
	return resident.Fits(d, need, fmt.Sprintf("half of a matrix of %d × %d numbers, and %d vectors", n, n, steps))
}

// Setup loads the kernels and copies the resident data to the device.
func (o OnDevice) Setup(p *eigenmap.Problem, c bench.Conditions) (_ bench.Job[eigenmap.Map], err error) {
	side, tiles := tilesOf(p)
	rows, j := ondevice.Rows(p), &deviceJob{}
	// vectors that become too short are rejected later
	if j.Job, err = ondevice.Open(o.Open, p, c, ondevice.Plan{
		Module: "eigenmap_dense", Kernels: []string{weigh + ondevice.Suffix(p), product, row, degree},
		Columns: int64(p.Steps),
		Buffers: []ondevice.Buffer{{To: &j.matrix, Name: "half of the matrix", Bytes: 8 * tileNumbers * tiles},
			{To: &j.parts, Name: "products of tiles", Bytes: 8 * side * rows},
			{To: &j.degrees, Name: "degrees", Bytes: 8 * rows}},
	}); err != nil {
		return nil, err
	}
	return j, nil
}

var _ bench.DeviceJob = (*deviceJob)(nil)

type deviceJob struct {
	*ondevice.Job
	matrix  device.Buffer // tiles
	parts   device.Buffer // the product of each tile with a vector
	degrees device.Buffer
}

// Do computes the answer on the device and copies the vectors of the steps to the host. If the
// scope includes the copy, it first copies the patches to the device.
func (j *deviceJob) Do(trace *bench.Trace) error {
	if err := j.Answer(trace, j.answer); err != nil {
		return err
	}
	defer trace.Span("vectors")()
	return j.Steps.Read(j.Basis, j.Problem.Steps)
}

// apply sets parts to the products of the tiles with V.
func (j *deviceJob) apply() error {
	side, tiles := tilesOf(j.Problem)
	return j.Launch(product, tiles, tileBlock, 0, j.matrix, j.Steps.V, int32(side), j.parts)
}

func (j *deviceJob) answer() error {
	side, tiles := tilesOf(j.Problem)
	n, steps, q := int32(j.Problem.Nodes().Voxels()), j.Problem.Steps, j.Patches
	if err := j.Launch(weigh+ondevice.Suffix(j.Problem), tiles, tileBlock, 0, q.Features, q.Words, q.Squares, q.Places, n,
		int32(side), q.ByFeature, q.ByPlace, j.matrix); err != nil {
		return err
	}
	if err := resident.Write(j.Stream, j.Steps.V, 0, q.Ones()); err != nil {
		return err
	}
	if err := errors.Join(j.apply(), j.Launch(degree, side, rowsBlock, 0, j.parts, int32(side), n, j.degrees,
		j.Steps.Scale)); err != nil {
		return err
	}
	apply := func(column int64) error {
		return errors.Join(j.apply(), j.Launch(row, side, rowsBlock, 0, j.parts, int32(side), j.Steps.Q, int32(column),
			j.Steps.Scale, j.Steps.Z))
	}
	start := make([]float64, n)
	for i := range start {
		start[i] = j.Problem.Start(i)
	}
	if err := errors.Join(j.Steps.Begin(), j.Steps.Start(start)); err != nil {
		return err
	}
	for range steps - 1 {
		if err := j.Steps.Step(apply); err != nil {
			return err
		}
	}
	if err := j.Steps.FinishDiagonal(apply); err != nil {
		return err
	}
	return j.vectors(steps)
}

// vectors sets the map to the lowest eigenpairs of T.
func (j *deviceJob) vectors(steps int) error {
	t, err := j.Steps.T(steps)
	if err != nil {
		return err
	}
	degrees := make([]float64, j.Problem.Nodes().Voxels())
	if err := resident.Read(j.Stream, degrees, j.degrees, 0); err != nil {
		return err
	}
	if err := ondevice.Isolated(degrees); err != nil {
		return err
	}
	for k, size := range t.OffDiagonal[:steps-1] {
		if size < shortest {
			return whole(k + 1)
		}
	}
	values, coefficients, err := t.Lowest(j.Problem.K)
	if err != nil {
		return err
	}
	copy(j.Values, values)
	copy(j.Diagonal, t.Diagonal)
	copy(j.OffDiagonal, t.OffDiagonal)
	return j.Steps.Combine(j.Vectors, coefficients)
}
