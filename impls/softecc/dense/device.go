package dense

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/softecc"
)

// OnDevice is the same method on an NVIDIA device as in the paper, with one thread per voxel
// (kernels/softecc/softecc_dense.cu).
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.About{
		Name: "dense-gpu", Where: "gpu",
		Method: "as dense, resident, in float32",
		Source: "Saxena et al. 2025, section 3.2",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E},
	}
}

// Shape of the kernels' work.
const (
	deviceBlock = 128 // threads; a block of the sums has a multiple of 32 threads, at most 8 warps
	padded      = 32  // number of thresholds per pass over the voxels
	ofAll       = 5   // sums of backward that belong to no threshold
)

// CanDo rejects problems that do not fit the device or the kernels' numbers.
func (o OnDevice) CanDo(p *softecc.Problem, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	s := p.Shape()
	if s.W > math.MaxInt32/8 || s.H*s.D > math.MaxInt32/8 || (s.W+31)/32*s.H*s.D > math.MaxInt32/2 {
		return fmt.Errorf("%v: too many rows, or too long ones, for the kernels", s)
	}
	if i := d.Info(); i.Major < 8 {
		return fmt.Errorf("%s has compute capability %d.%d, the kernels are for 8.0 and more", i.Name, i.Major, i.Minor)
	}
	const least, most = 0x1p-126, math.MaxFloat32 // range of the float32 numbers that a device does not flush to 0
	if steep := steepness(p); !(steep >= least && steep <= most) || float32(p.Lambda) < least {
		return fmt.Errorf("λ is %g, which float32 cannot represent", p.Lambda)
	}
	for k := range p.Tau {
		if math.Abs(p.Tau[k]) > most || math.Abs(p.G[k]) > most {
			return fmt.Errorf("threshold %g, upstream gradient %g: beyond float32", p.Tau[k], p.G[k])
		}
	}
	if err := c.AllowMemory(4*s.Voxels(), "4 bytes for each of %d voxels", s.Voxels()); err != nil {
		return err
	}
	return resident.Fits(d, grid.TotalBytes(p)+9*s.Voxels()+4*(s.W+s.H*s.D)+8*(columns(p)*(mostBlocks(d)+2)),
		"the resident image with Y, changes and gradient")
}

// steepness returns λ for sigmoids by powers of 2.
func steepness(p *softecc.Problem) float64 { return p.Lambda * math.Log2E }

// rows returns the number of thresholds, padded to whole groups.
func rows(p *softecc.Problem) int64 { return (int64(len(p.Tau)) + padded - 1) / padded * padded }

// columns returns the number of sums: χ and its slope per threshold, and the ofAll others.
func columns(p *softecc.Problem) int64 { return 2*rows(p) + ofAll }

// mostBlocks bounds the number of blocks that run at once.
func mostBlocks(d device.Device) int64 { return int64(d.Info().SMs) * 2048 / deviceBlock }

// Setup loads the kernels and copies the image to the device.
func (o OnDevice) Setup(p *softecc.Problem, c bench.Conditions) (bench.Job[softecc.Answer], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	kernels := kernelsOf(p)
	program, err := resident.NewProgram(d, "soft curve", module, kernels[:]...)
	if err != nil {
		return nil, err
	}
	j := &deviceJob{Program: program, p: p, turn: 1, outside: float32(math.Inf(1)), sign: 1}
	if p.Shape().D > 1 {
		j.sign = -1
	}
	if p.Vertices { // as on the host
		j.turn, j.outside = -1, -j.outside
		if p.Shape().D > 1 {
			j.sign = -j.sign
		}
	}
	return bench.Ready(j, j.setup(kernels, c))
}

const module = "softecc_dense"

// kernelsOf returns the names of the kernels of a problem, in launch order.
func kernelsOf(p *softecc.Problem) (names [5]string) {
	for i, name := range []string{fmt.Sprintf("tilt_%v", p.Type()), fmt.Sprintf("changes_%dd", p.Shape().Dim()), "forward",
		"backward", "sums"} {
		names[i] = module + "_" + name
	}
	return names
}

var _ bench.DeviceJob = (*deviceJob)(nil)

// A pass is a kernel and its number of blocks.
type pass struct {
	kernel string
	blocks int64
}

type deviceJob struct {
	*resident.Program
	p       *softecc.Problem
	turn    float32 // −1 where y is −Y
	outside float32
	sign    int32 // of the cell that is the voxel itself

	tilt, changes, forward, backward, sums pass

	image, along, ofRow device.Buffer // X, and the terms added to it
	y                   device.Buffer // the image itself if Y is X
	own                 device.Buffer // y otherwise
	of, dx              device.Buffer // changes and gradient
	tau                 device.Buffer
	partial, out        device.Buffer // sums per block, and total
	result              device.Pinned
	back                device.Pinned  // the gradient
	feed                *resident.Feed // of whole calls, which copy the image to the device and the gradient back
}

func (j *deviceJob) setup(kernels [5]string, c bench.Conditions) error {
	for i, k := range []*pass{&j.tilt, &j.changes, &j.forward, &j.backward, &j.sums} {
		k.kernel = kernels[i]
		atOnce, err := j.ResidentBlocks(k.kernel, deviceBlock)
		if err != nil {
			return err
		}
		k.blocks = min(atOnce, mostBlocks(j.On))
	}
	j.sums.blocks = columns(j.p)
	j.place(c)
	voxels := j.p.Shape().Voxels()
	j.of, j.dx = j.Alloc("changes", voxels), j.Alloc("gradient", 4*voxels)
	j.partial = j.Alloc("sums of blocks", 8*(rows(j.p)*j.forward.blocks+(rows(j.p)+ofAll)*j.backward.blocks))
	j.out, j.result = j.Alloc("sums", 8*columns(j.p)), j.NewPinned("sums on the host", 8*columns(j.p))
	j.back = j.NewPinned("gradient on the host", 4*voxels)
	j.tau = resident.NewNumbers(&j.Objects, j.Stream, "thresholds", thresholds(j.p))
	return j.Err()
}

// place copies the image to the device, or prepares whole calls that do. It also copies the terms
// added to the image, if there are any.
func (j *deviceJob) place(c bench.Conditions) {
	j.image, j.feed = resident.NewImage(&j.Objects, j.Stream, j.p, c.Scope == bench.E2E, c.Threads)
	if j.p.Type() == grid.Float32 && j.p.Alpha == 0 && !j.p.Vertices {
		j.y = j.image
		return
	}
	t, s := j.p.Tilt(), j.p.Shape()
	j.along = resident.NewNumbers(&j.Objects, j.Stream, "terms along x", t.X)
	rows := make([]float32, s.H*s.D)
	for r := range rows {
		rows[r] = t.Row(int64(r)%s.H, int64(r)/s.H)
	}
	j.ofRow = resident.NewNumbers(&j.Objects, j.Stream, "terms of rows", rows)
	j.own = j.Alloc("Y", 4*s.Voxels())
	j.y = j.own
}

// thresholds returns three numbers per threshold for the kernels: its float32 value, the remainder
// in units of 1/(λ log₂ e), and its upstream gradient. The padding has gradient 0.
func thresholds(p *softecc.Problem) []float32 {
	n := rows(p)
	list := make([]float32, 3*n)
	for k, v := range p.Tau {
		nearest := float32(v)
		list[k], list[n+int64(k)], list[2*n+int64(k)] = nearest, float32((v-float64(nearest))*steepness(p)), float32(p.G[k])
	}
	return list
}

// Do computes the answer on the device. A whole call copies the image from the host and the
// gradient back.
func (j *deviceJob) Do(*bench.Trace) error {
	if j.feed == nil {
		return j.run()
	}
	if err := j.feed.Add(j.Stream, j.image, 0); err != nil {
		return err
	}
	if err := j.run(); err != nil {
		return err
	}
	return j.bring()
}

// bring copies the gradient to the host.
func (j *deviceJob) bring() error {
	return errors.Join(j.Stream.Copy(j.back, 0, j.dx, 0, j.back.Bytes()), j.Stream.Wait())
}

func (j *deviceJob) run() error {
	s, n := j.p.Shape(), int32(rows(j.p))
	w, h, d, steep := int32(s.W), int32(s.H), int32(s.D), float32(steepness(j.p))
	err := j.Timed(func() error {
		var errs []error
		launch := func(k pass, args ...any) { errs = append(errs, j.Launch(k.kernel, k.blocks, deviceBlock, 0, args...)) }
		if j.own != nil {
			launch(j.tilt, j.image, j.along, j.ofRow, w, h, d, j.turn, j.y)
		}
		launch(j.changes, j.y, w, h, d, j.outside, j.sign, j.of)
		launch(j.forward, j.y, j.of, w, h, d, j.tau, n, steep, j.turn, j.partial)
		launch(j.backward, j.y, j.of, w, h, d, j.tau, n, steep, j.turn, float32(j.p.Lambda), j.dx, j.partial,
			int64(n)*j.forward.blocks)
		launch(j.sums, j.partial, n, int32(j.forward.blocks), int32(j.backward.blocks), j.out)
		return errors.Join(errs...)
	})
	return errors.Join(err, j.Stream.Copy(j.result, 0, j.out, 0, j.result.Bytes()), j.Stream.Wait())
}

// Poison overwrites the memory that Out reads, and the data that it is computed from.
func (j *deviceJob) Poison() {
	const poison = 0x5a
	list := []device.Buffer{j.of, j.dx, j.partial, j.out}
	if j.own != nil {
		list = append(list, j.own)
	}
	j.Fill(poison, list...)
	resident.Overwrite(j.result.Data(), poison)
	resident.Overwrite(j.back.Data(), poison)
}

// Out returns the last answer and copies its gradient to the host.
func (j *deviceJob) Out() (softecc.Answer, error) {
	p, m, n := j.p, len(j.p.Tau), int(rows(j.p))
	sums := make([]float64, columns(p))
	if _, err := binary.Decode(j.result.Data(), binary.LittleEndian, sums); err != nil {
		return softecc.Answer{}, err
	}
	a := softecc.Answer{Chi: sums[:m], DTau: make([]float64, m)}
	for k := range m {
		a.DTau[k] = p.G[k] * p.Lambda * sums[n+k]
	}
	all := sums[2*n:]
	var moment [3]float64 // of −∂X, about the centre
	s := p.Shape()
	for i, length := range []int64{s.W, s.H, s.D} {
		moment[i] = -(all[1+i] + all[0]*softecc.Place(0, length))
	}
	p.Direction(&a, moment)
	a.Lambda = all[4] / steepness(p)
	if j.feed == nil {
		if err := j.bring(); err != nil {
			return a, err
		}
	}
	a.DX = make([]float32, s.Voxels())
	copy(a.DX, grid.Values[float32](j.back.Data()))
	return a, nil
}
