package gpu

import (
	"errors"
	"fmt"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc"
)

// OnDevices counts an image whose slabs are resident on several devices of one host. Neighbouring
// slabs share a slice. Each device counts its slab, and separately the slice that it shares with
// the next one, as a 2D image. The changes of shared slices are subtracted: χ(A ∪ B) = χ(A) + χ(B)
// − χ(A ∩ B). A 2D image is divided along its rows.
type OnDevices struct {
	Open resident.Opener
	// PTX returns the kernels of a source; nil means package kernels.
	PTX func(name string) ([]byte, error)

	twice bool // a fault for tests: shared slices are counted twice
}

// About describes the method.
func (OnDevices) About() bench.About {
	return bench.About{
		Name:   "extrema-gpus",
		Where:  "gpus",
		Method: "extrema-gpu on several devices of one host, one slab each",
		Source: "doc/proofs/extrema.md",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E, bench.File},
	}
}

// A slab is the slices lo ≤ i < hi of one device. The last of them is the first of the next slab.
type slab struct {
	lo, hi int64
	last   bool // there is no next slab
}

// cut divides n slices among at most the given number of devices, into slabs of two slices or more
// (one, if the image has only one).
func cut(n int64, devices int) []slab {
	parts := max(1, min(int64(devices), n-1))
	var list []slab
	for k := range parts {
		list = append(list, slab{k * (n - 1) / parts, (k+1)*(n-1)/parts + 1, k == parts-1})
	}
	return list
}

// images returns the images that a device counts: its slab, and the slice that it shares with the
// next one.
func (s slab) images(in grid.Source) []grid.Source {
	list := []grid.Source{views.Crop(in, s.lo, s.hi)}
	if s.lo == 0 && s.last {
		list[0] = in
	}
	if !s.last {
		list = append(list, views.Crop(in, s.hi-1, s.hi))
	}
	return list
}

// CanDo rejects an image if one of the devices rejects its slab.
func (o OnDevices) CanDo(in grid.Source, c bench.Conditions) error {
	devices, err := o.Open.OpenAll(c.Devices)
	if err != nil {
		return err
	}
	for k, s := range cut(in.Shape().Slices(), len(devices)) {
		if err := able(devices[k], s.images(in)...); err != nil {
			return fmt.Errorf("slices %d to %d on device %d: %w", s.lo, s.hi-1, devices[k].Info().Index, err)
		}
	}
	return nil
}

// Setup copies the slabs to their devices in parallel, unless the scope includes the copies.
func (o OnDevices) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	devices, err := o.Open.OpenAll(c.Devices)
	if err != nil {
		return nil, err
	}
	slabs := cut(in.Shape().Slices(), len(devices))
	bound := make([][]*part, len(slabs))
	err = resident.Each(len(slabs), func(k int) error {
		for i, image := range slabs[k].images(in) {
			b, err := OnDevice{PTX: o.PTX}.bind(devices[k], image, image.Shape(), c, false)
			if err != nil {
				return fmt.Errorf("slices %d to %d on device %d: %w", slabs[k].lo, slabs[k].hi-1, devices[k].Info().Index, err)
			}
			p := &part{deviceJob: b, sign: 1}
			if i > 0 && !o.twice {
				p.sign = -1
			}
			bound[k] = append(bound[k], p)
		}
		return nil
	})
	j := &devicesJob{changes: make([]int64, in.Ladder().Len())}
	j.parts = slices.Concat(bound...)
	if err == nil {
		j.Team, err = resident.NewTeam(j.parts)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// A part is an image that one device counts, with its factor in the sum.
type part struct {
	*deviceJob
	sign int64
}

func (p *part) On() device.Device     { return p.Objects.On }
func (p *part) Stream() device.Stream { return p.last.Stream }
func (p *part) Bring() error          { return p.last.Bring() }

var _ bench.DeviceJob = (*devicesJob)(nil)

type devicesJob struct {
	*resident.Team
	parts   []*part
	changes []int64 // the sum over all parts
}

// Do counts all parts and sums them.
func (j *devicesJob) Do(trace *bench.Trace) error {
	if j.parts[0].upload {
		uploaded := trace.Span("upload")
		if err := resident.Each(len(j.parts), func(i int) error { return j.parts[i].put(nil) }); err != nil {
			return err
		}
		uploaded()
	}
	counted := trace.Span("count")
	if err := j.Team.Do(); err != nil {
		return err
	}
	counted()
	defer trace.Span("add up")()
	clear(j.changes)
	for _, p := range j.parts {
		for level, change := range p.last.Changes() {
			j.changes[level] += p.sign * change
		}
	}
	return nil
}

func (j *devicesJob) Out() (ecc.VCEC, error) { return ecc.FromDense(j.changes), nil }

func (j *devicesJob) Poison() {
	bench.PoisonEach(j.changes)
	for _, p := range j.parts {
		p.Poison()
	}
}

// Launches returns the number of kernels that all devices have launched so far.
func (j *devicesJob) Launches() int64 {
	var n int64
	for _, p := range j.parts {
		for _, m := range p.marches() {
			n += m.Launches()
		}
	}
	return n
}

func (j *devicesJob) Close() error {
	return errors.Join(j.Team.Close(), resident.CloseEach(j.parts))
}
