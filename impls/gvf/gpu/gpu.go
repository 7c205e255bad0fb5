// Package gpu computes the gradient vector flow on an NVIDIA device: by the plain steps of Smistad
// et al. 2012, or by several steps per pass over the field. The kernels are in kernels/gvf. Results
// are bit-identical to the plain loop.
package gpu

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// Implementation is one of the methods for the devices of Open.
type Implementation struct {
	Open   resident.Opener
	method method
	fault  Fault
	many   int64 // number of cells of a steady-state level above which each pass over it is a launch
}

// A method is a way to compute steps.
type method struct {
	name, how, source string
	// plan returns the passes for a positive number of steps; nil for the steady state.
	plan    func(p *gvf.Problem, d device.Info, steps int64) []pass
	formats []gvf.Storage // in addition to float32
}

// A pass is a kernel that computes some steps, with the number of launches.
type pass struct {
	module, kernel string
	launch         device.Launch
	count          int64
	length         int64 // planes or rows that a block processes; 0 for a kernel without that parameter
	readsB         bool  // whether b is a parameter
	steps          int64 // number of steps, for a kernel whose blocks exchange pixels; else 0
}

// paper is the source of the plain steps.
const paper = "Smistad et al. 2012, algorithms 1 and 2"

// Global computes plain steps with plain buffers.
func Global(open resident.Opener) Implementation {
	return Implementation{Open: open, method: method{"global",
		"one launch a step, all components of four voxels a thread, plain buffers", paper, globally,
		[]gvf.Storage{gvf.Float16, gvf.Snorm16}}}
}

// GlobalShared computes plain steps with plain buffers and shared memory.
func GlobalShared(open resident.Opener) Implementation {
	return Implementation{Open: open, method: method{"global-shared",
		"one launch a step, tiles with a frame in shared memory, a voxel a thread, plain buffers", paper,
		shared("gvf_global_shared"), []gvf.Storage{gvf.Float16, gvf.Snorm16}}}
}

// TextureShared computes plain steps with the texture cache and shared memory.
func TextureShared(open resident.Opener) Implementation {
	return Implementation{Open: open, method: method{"texture-shared",
		"one launch a step, tiles with a frame in shared memory, a voxel a thread, read through the texture cache", paper,
		shared("gvf_texture_shared"), []gvf.Storage{gvf.Float16, gvf.Snorm16}}}
}

// Texture computes plain steps with the texture cache.
func Texture(open resident.Opener) Implementation {
	return Implementation{Open: open, method: method{"texture",
		"one launch a step, a voxel a thread, read through the texture cache", paper, textured,
		[]gvf.Storage{gvf.Float16, gvf.Snorm16}}}
}

// Blocked computes several steps per pass.
func Blocked(open resident.Opener) Implementation {
	return Implementation{Open: open, method: method{
		"blocked-gpu",
		"several steps at a time of tiles in registers and shared memory, streamed along the slowest axis; " +
			"all at once of small 2D images",
		"doc/proofs/gvf.md", blocked, []gvf.Storage{gvf.Float16},
	}}
}

// Multigrid computes the steady state.
func Multigrid(open resident.Opener) Implementation {
	return Implementation{Open: open, method: method{
		name:   "multigrid-gpu",
		how:    "as multigrid, one launch for all levels of few cells",
		source: "doc/proofs/gvf.md; Han, Xu and Prince 2007",
	}, many: manyCells}
}

// About describes the method.
func (i Implementation) About() bench.About {
	return bench.About{
		Name: i.method.name, Where: "gpu", Method: i.method.how, Source: i.method.source,
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E},
	}
}

// stepNS is the estimated time per component, voxel and step, and launchNS the additional time per
// step.
const stepNS, launchNS = 0.005, 5000

// sweeps is the number of steps that take as long as the steady state.
const sweeps = 60

// CanDo rejects a problem that takes too long, or does not fit the device or the kernels' integers.
func (i Implementation) CanDo(p *gvf.Problem, c bench.Conditions) error {
	d, err := i.Open(c.Device)
	if err != nil {
		return err
	}
	comes := p.TakesSteps
	if i.method.plan == nil {
		comes = p.ComesToRest
	}
	if err := comes(i.method.formats...); err != nil {
		return err
	}
	if hosted(p) && p.Storage != gvf.Float32 {
		return fmt.Errorf("a field that starts on the host is kept in %v alone", gvf.Float32)
	}
	most := int64(math.MaxUint32)
	if i.method.plan == nil {
		most = math.MaxInt32
	}
	if err := kernelsTake(p, d, most); err != nil {
		return err
	}
	n, dim := p.Shape().Voxels(), int64(p.Dim())
	steps, more := p.Steps, int64(0)
	if i.method.plan == nil {
		steps, more = sweeps, newLadder(p, p.Boundary, d.Info(), i.many).bytes()
		if info := d.Info(); int64(info.SMs) < dim {
			return fmt.Errorf("%s has %d multiprocessors, want one for each of %d components", info.Name, info.SMs, dim)
		}
	}
	if err := c.Allow(quantity.Seconds(float64(steps)*(float64(n*dim)*stepNS+launchNS)*1e-9),
		"%d steps of %d voxels × %d components × %v ns", steps, n, dim, stepNS); err != nil {
		return err
	}
	host := 2 * dim // the field on the host, and its copy
	if hosted(p) {
		host += dim + 2
	}
	if err := c.AllowMemory(4*n*host, "%d numbers for each of %d voxels", host, n); err != nil {
		return err
	}
	return resident.Fits(d, n*(size(p)*3*dim+4)+grid.TotalBytes(p)+extentBytes+exchangeBytes(p, d.Info())+more,
		"the image with its gradient and two fields")
}

// kernelsTake rejects problems that exceed the kernels' integers; most is the maximum number of
// voxels.
func kernelsTake(p *gvf.Problem, d device.Device, most int64) error {
	s := p.Shape()
	if s.W > math.MaxInt32/8 || s.H > math.MaxInt32/8 || s.D > math.MaxInt32/8 || s.W*s.H > math.MaxInt32 ||
		s.Voxels() > most {
		return fmt.Errorf("%v: want at most %d voxels, and %d per plane", s, most, math.MaxInt32)
	}
	if p.Steps > math.MaxInt32 {
		return fmt.Errorf("%d steps: want at most %d", p.Steps, math.MaxInt32)
	}
	return recent(d)
}

// recent rejects devices that the kernels do not support.
func recent(d device.Device) error {
	if info := d.Info(); info.Major < 8 {
		return fmt.Errorf("%s has compute capability %d.%d, the kernels need 8.0 for copies to shared memory", info.Name,
			info.Major, info.Minor)
	}
	return nil
}

// hosted reports whether the start is computed on the host: from a given field, or from an image
// with labels.
func hosted(p *gvf.Problem) bool { return p.V0 != nil || grid.LabelsOf(p.Source) != nil }

// Setup loads the kernels and copies the resident data to the device.
func (i Implementation) Setup(p *gvf.Problem, c bench.Conditions) (bench.Job[gvf.Flow], error) {
	d, err := i.Open(c.Device)
	if err != nil {
		return nil, err
	}
	j := &job{program: program{Objects: resident.NewObjects(d), p: p}, method: i.method, fault: i.fault, many: i.many,
		scope: c.Scope, threads: c.Threads}
	return bench.Ready(j, j.setup())
}
