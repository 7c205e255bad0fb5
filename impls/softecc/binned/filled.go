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
func (j *deviceJob) inBins() (err error) {
	s, m := j.p.Shape(), int64(len(j.p.Tau))
	a := &filled{}
	j.bins = a // freed by Close
	kind := BatchKind{
		Shape: s, Type: j.p.Type(), Images: j.images, Thresholds: m, Axes: 3, Align: 16,
		Directed: j.p.Alpha != 0, Steep: steepness(j.p) > solidShare/binShared-binSpare,
	}
	if a.Batch, err = OpenBatch(j.d, kind); err != nil {
		return err
	}
	u, _ := j.p.U()
	g := make([]float32, 0, m*j.images)
	for i := range j.images {
		for _, v := range j.upstream(i) {
			g = append(g, float32(v))
		}
	}
	a.numbers.Tau, a.numbers.Doubles = j.tau, 15
	for _, n := range []struct {
		to   *device.Buffer
		list []float64
	}{
		{&a.numbers.Lambda, []float64{j.p.Lambda}}, {&a.numbers.Alpha, []float64{j.p.Alpha}},
		{&a.numbers.Direction, []float64{u[2], u[1], u[0]}},
	} {
		if *n.to, err = resident.PutNumbers(j.d, j.stream, "parameters", n.list); err != nil {
			return err
		}
	}
	if a.g, err = resident.PutNumbers(j.d, j.stream, "upstream gradient as float32", g); err != nil {
		return err
	}
	for _, b := range []struct {
		to    *device.Buffer
		name  string
		bytes int64
	}{
		{&a.laid, "how bins lie", a.Laid()}, {&a.work, "parts of the curve", max(1, a.Work(true))},
		{&a.curve, "curve", 4 * m * j.images}, {&a.derivatives, "derivatives", 16 * m * j.images},
		{&a.moments, "moments", 32 * a.Blocks()},
		{&a.along, "terms along x", 4 * s.W}, {&a.ofRow, "terms of rows", 4 * s.H * s.D},
	} {
		if j.p.Alpha == 0 && (b.to == &a.along || b.to == &a.ofRow) {
			continue
		}
		if *b.to, err = j.d.Alloc(b.name, b.bytes); err != nil {
			return err
		}
	}
	bytes := a.moments.Bytes() + a.derivatives.Bytes() + a.curve.Bytes()
	if a.result, err = j.d.AllocPinned("soft curve on the host", bytes); err != nil {
		return err
	}
	return j.d.Do(func() error { return errors.Join(a.Lay(j.stream, a.numbers, j.memory()), j.stream.Wait()) })
}

func (j *deviceJob) memory() BatchMemory {
	return BatchMemory{Image: j.image, Changes: j.changes, Laid: j.bins.laid, Along: j.bins.along, OfRow: j.bins.ofRow}
}

func (j *deviceJob) runBins() error {
	a, m := j.bins, j.memory()
	return errors.Join(
		j.stream.Record(j.start),
		a.Forward(j.stream, a.numbers, m, a.work, a.curve, a.derivatives),
		a.Backward(j.stream, m, a.g, j.dx, a.moments),
		j.stream.Record(j.end),
		j.stream.Copy(a.result, 0, a.moments, 0, a.moments.Bytes()),
		j.stream.Copy(a.result, a.moments.Bytes(), a.derivatives, 0, a.derivatives.Bytes()),
		j.stream.Copy(a.result, a.moments.Bytes()+a.derivatives.Bytes(), a.curve, 0, a.curve.Bytes()),
		j.stream.Wait())
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

func (a *filled) close() error {
	err := resident.CloseAll(a.result, a.moments, a.derivatives, a.curve, a.work, a.g, a.ofRow, a.along, a.laid,
		a.numbers.Direction, a.numbers.Alpha, a.numbers.Lambda)
	if a.Batch != nil {
		err = errors.Join(err, a.Batch.Close())
	}
	return err
}
