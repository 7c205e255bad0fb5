package binned

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"eccbench/internal/device"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/softecc"
)

// A filled is a batch with its memory.
type filled struct {
	*Batch
	numbers            Numbers
	laid, along, ofRow device.Buffer
	g, work            device.Buffer
	curve, derivatives device.Buffer
	moments            device.Buffer
	result             device.Pinned // the moments, the derivatives and the curve
}

// checkBins rejects sigmoids that are too steep for the bins of a block, as softecc_lay does.
func checkBins(d device.Device, p *softecc.Problem) error {
	if have := float64(mostBins(d.Info(), p.Shape().Dim())); steepness(p) > have {
		return fmt.Errorf("λ is %g: that needs %.0f bins, and a block has %.0f; binned, on the cpu, has no limit",
			p.Lambda, steepness(p), have)
	}
	return nil
}

// steepness returns the number of bins that softecc_lay needs for a problem.
func steepness(p *softecc.Problem) float64 {
	const fine, reach, spare = 16, 20, 4 // bins in 1/λ; 1/λ from the thresholds to the last bin
	return fine*(p.Lambda*(slices.Max(p.Tau)-slices.Min(p.Tau))+2*reach) + spare
}

// inBins makes the batch for images that are counted in bins.
func (j *deviceJob) inBins() error {
	s, m := j.p.Shape(), int64(len(j.p.Tau))
	a := &filled{}
	kind := BatchKind{
		Shape: s, Type: j.p.Type(), Images: j.images, Thresholds: m, Axes: 3, Align: 16,
		Directed: j.p.Alpha != 0, Steep: steepness(j.p) > solidShare/binShared-binSpare,
	}
	a.Batch = resident.Own(&j.Objects, func() (*Batch, error) { return OpenBatch(j.On, kind) })
	if j.Err() != nil {
		return j.Err()
	}
	u, _ := j.p.U()
	g := make([]float32, 0, m*j.images)
	for i := range j.images {
		for _, v := range j.upstream(i) {
			g = append(g, float32(v))
		}
	}
	put := func(numbers ...float64) device.Buffer {
		return resident.NewNumbers(&j.Objects, j.Stream, "parameters", numbers)
	}
	a.numbers = Numbers{Tau: j.tau, Lambda: put(j.p.Lambda), Alpha: put(j.p.Alpha), Direction: put(u[2], u[1], u[0]),
		Doubles: 15}
	a.g = resident.NewNumbers(&j.Objects, j.Stream, "upstream gradient as float32", g)
	a.laid, a.work = j.NewBuffer("how bins lie", a.Laid()), j.NewBuffer("parts of the curve", max(1, a.Work(true)))
	a.curve, a.derivatives = j.NewBuffer("curve", 4*m*j.images), j.NewBuffer("derivatives", 16*m*j.images)
	a.moments = j.NewBuffer("moments", 32*a.Blocks())
	if j.p.Alpha != 0 {
		a.along, a.ofRow = j.NewBuffer("terms along x", 4*s.W), j.NewBuffer("terms of rows", 4*s.H*s.D)
	}
	a.result = j.NewPinned("soft curve on the host", 20*m*j.images+32*a.Blocks())
	j.bins = a
	if j.Err() != nil {
		return j.Err()
	}
	return j.On.Do(func() error { return errors.Join(a.Lay(j.Stream, a.numbers, j.memory()), j.Stream.Wait()) })
}

func (j *deviceJob) memory() BatchMemory {
	return BatchMemory{Image: j.image, Changes: j.changes, Laid: j.bins.laid, Along: j.bins.along, OfRow: j.bins.ofRow}
}

func (j *deviceJob) runBins() error {
	a, m := j.bins, j.memory()
	err := j.Timed(func() error {
		return errors.Join(
			a.Forward(j.Stream, a.numbers, m, a.work, a.curve, a.derivatives),
			a.Backward(j.Stream, m, a.g, j.dx, a.moments))
	})
	return errors.Join(err,
		j.Stream.Copy(a.result, 0, a.moments, 0, a.moments.Bytes()),
		j.Stream.Copy(a.result, a.moments.Bytes(), a.derivatives, 0, a.derivatives.Bytes()),
		j.Stream.Copy(a.result, a.moments.Bytes()+a.derivatives.Bytes(), a.curve, 0, a.curve.Bytes()),
		j.Stream.Wait())
}

// answer returns the last answer about an image with an upstream gradient, without the numbers of voxels, and the
// moments.
func (a *filled) answer(g []float64, image int64) (of softecc.Answer, moments []float64, err error) {
	m, n := int64(len(g)), a.Images
	moments = make([]float64, 4*a.parts)
	byTau, byLambda, curve := make([]float64, m), make([]float64, m), make([]float32, m)
	data, at := a.result.Data(), int64(0)
	for _, list := range []any{moments, byTau, byLambda, curve} {
		size := int64(binary.Size(list))
		if _, err := binary.Decode(data[at+image*size:], binary.LittleEndian, list); err != nil {
			return of, nil, err
		}
		at += n * size
	}
	for j, v := range curve {
		of.Chi, of.DTau = append(of.Chi, float64(v)), append(of.DTau, g[j]*byTau[j])
		of.Lambda += g[j] * byLambda[j]
	}
	return of, moments, nil
}
