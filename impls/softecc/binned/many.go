package binned

import (
	"context"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/softecc"
)

// Many answers a batch by Layers, in one call forward and one backward.
type Many struct{}

// About describes the method.
func (Many) About() bench.About {
	a := Implementation{}.About()
	a.Method, a.ISAs = "all images in one call forward and one backward, by the layers of eccbench.torch", nil
	return a
}

// CanDo rejects batches of other types than float32, and batches that need more time or memory than the conditions
// allow.
func (Many) CanDo(b *softecc.Batch, c bench.Conditions) error {
	if b.Type() != grid.Float32 {
		return fmt.Errorf("images of %v: a layer has %v", b.Type(), grid.Float32)
	}
	if err := b.Check(); err != nil {
		return err
	}
	n, threads := b.Len()*b.Shape().Voxels(), int64(max(1, c.Threads))
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9/float64(threads)), "%d voxels × %d ns on %d cores", n,
		voxelNS, threads); err != nil {
		return err
	}
	return c.AllowMemory(9*n+threads*(most*binBytes+4*stripBytes), "9 bytes for each of %d voxels, and bins for %d cores",
		n, threads)
}

// Setup reads the images, and allocates the changes and the gradients.
func (Many) Setup(b *softecc.Batch, c bench.Conditions) (bench.Job[[]softecc.Answer], error) {
	all, err := grid.Load(b.Images.Source)
	if err != nil {
		return nil, err
	}
	n := b.Shape().Voxels() * b.Len()
	var upstream [][]float64
	for i := range b.Len() {
		upstream = append(upstream, b.Upstream(i))
	}
	return &manyJob{
		b: b, upstream: upstream, threads: c.Cores(), voxels: grid.Values[float32](all.Data()),
		changes: make([]uint8, n), dx: make([]float32, n), answers: make([]softecc.Answer, b.Len()),
	}, nil
}

type manyJob struct {
	b        *softecc.Batch
	upstream [][]float64
	threads  int
	voxels   []float32
	changes  []uint8
	dx       []float32
	answers  []softecc.Answer
}

func (j *manyJob) Do(trace *bench.Trace) error {
	ctx := context.Background()
	layers := Layers[float32]{
		Problem: j.b.Problem, Voxels: j.voxels, Changes: j.changes, Images: int(j.b.Len()), Threads: j.threads,
	}
	end := trace.Span("forward")
	err := layers.Each(func(i int, l *Layer[float32]) error {
		l.Problem.G = j.upstream[i]
		c := newCurve(len(l.Problem.Tau))
		err := l.Forward(ctx, c)
		j.answers[i] = c.answer(l.Problem)
		return err
	})
	end()
	if err != nil {
		return err
	}
	defer trace.Span("backward")()
	n := j.b.Shape().Voxels()
	return layers.Each(func(i int, l *Layer[float32]) (err error) {
		a := &j.answers[i]
		l.Problem.G = j.upstream[i]
		a.DX = j.dx[int64(i)*n:][:n]
		a.DV, a.Alpha, err = l.Backward(ctx, a.DX)
		return err
	})
}

// Poison overwrites what Out reads.
func (j *manyJob) Poison() {
	clear(j.answers)
	for i := range j.dx {
		j.dx[i] = 1e30
	}
}

// Out returns the last answers; the next Do overwrites them.
func (j *manyJob) Out() ([]softecc.Answer, error) { return j.answers, nil }

// Close frees nothing: all memory is garbage collected.
func (j *manyJob) Close() error { return nil }

// ManyOnDevice answers a batch in at most three launches forward and one backward.
type ManyOnDevice struct{ Open resident.Opener }

// About describes the method.
func (o ManyOnDevice) About() bench.About {
	a := OnDevice(o).About()
	a.Method = "resident images, in up to three launches forward and one backward; changes with two moments in bins, " +
		"or few voxels directly at each threshold"
	return a
}

// CanDo rejects problems that do not fit the device or the kernels' integers.
func (o ManyOnDevice) CanDo(b *softecc.Batch, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	return canDo(d, b.Problem, b.Len(), true, c)
}

// Setup loads the kernels and copies the images to the device.
func (o ManyOnDevice) Setup(b *softecc.Batch, c bench.Conditions) (bench.Job[[]softecc.Answer], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	program, err := newProgram(d)
	if err != nil {
		return nil, err
	}
	j := &deviceJob{Program: program, p: b.Problem, upstream: b.Upstream, source: b.Images, images: b.Len()}
	return bench.Ready[[]softecc.Answer](manyOnDevice{j}, j.setup(c))
}

var _ bench.DeviceJob = manyOnDevice{}

type manyOnDevice struct{ *deviceJob }

// Out returns the last answers and copies their gradients to the host.
func (j manyOnDevice) Out() (list []softecc.Answer, err error) {
	if j.feed == nil {
		err = j.bring()
	}
	for i := int64(0); i < j.images && err == nil; i++ {
		var a softecc.Answer
		a, err = j.answer(i)
		list = append(list, a)
	}
	return list, err
}
