package read

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/resident"
)

// OnDevices reads an image whose parts are resident on several devices of one host. It is the
// ceiling of counting on the same devices.
type OnDevices struct{ Open resident.Opener }

// About describes the method.
func (OnDevices) About() bench.About {
	return bench.About{
		Name:   "memread-gpus",
		Where:  "gpus",
		Method: "reads every byte of the image once, a part of it on each device: the ceiling of several devices",
		Source: "memread-gpu on each",
		Scopes: []bench.Scope{bench.Kernel, bench.Device},
	}
}

// parts cuts an image into one part for each device, or fewer if it has too few slices. No part of
// a 3D image has a single slice, because that would be a 2D image with other words.
func parts(in grid.Source, devices int) []grid.Source {
	n, least := in.Shape().Slices(), int64(1)
	if in.Shape().Dim() == 3 {
		least = 2
	}
	count := max(1, min(int64(devices), n/least))
	if count == 1 {
		return []grid.Source{in}
	}
	var list []grid.Source
	for k := range count {
		list = append(list, views.Crop(in, k*n/count, (k+1)*n/count))
	}
	return list
}

// CanDo rejects an image that does not fit the devices.
func (o OnDevices) CanDo(in grid.Source, c bench.Conditions) error {
	devices, err := o.Open.OpenAll(c.Devices)
	if err != nil {
		return err
	}
	for k, part := range parts(in, len(devices)) {
		if err := resident.Fits(devices[k], padded(part), fmt.Sprintf("part %d of the image", k)); err != nil {
			return err
		}
	}
	return nil
}

// Setup copies the parts to their devices, all at the same time.
func (o OnDevices) Setup(in grid.Source, c bench.Conditions) (bench.Job[uint64], error) {
	devices, err := o.Open.OpenAll(c.Devices)
	if err != nil {
		return nil, err
	}
	images := parts(in, len(devices))
	bound := make([]*deviceJob, len(images))
	err = resident.Each(len(images), func(k int) (err error) {
		bound[k], err = bind(devices[k], images[k], false, false)
		return err
	})
	j := &devicesJob{}
	j.parts = slices.DeleteFunc(bound, func(part *deviceJob) bool { return part == nil })
	if err == nil {
		j.Team, err = resident.NewTeam(j.parts)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

var (
	_ bench.DeviceJob = (*devicesJob)(nil)
	_ resident.Member = (*deviceJob)(nil)
)

type devicesJob struct {
	*resident.Team
	parts []*deviceJob
	sum   uint64
}

// Do reads all parts and adds their sums.
func (j *devicesJob) Do(trace *bench.Trace) error {
	defer trace.Span("read")()
	if err := j.Team.Do(); err != nil {
		return err
	}
	j.sum = 0
	for _, p := range j.parts {
		j.sum += binary.LittleEndian.Uint64(p.value())
	}
	return nil
}

func (j *devicesJob) Poison() {
	j.sum = 1<<63 | 0x5a5a5a5a
	for _, p := range j.parts {
		p.Poison()
	}
}

func (j *devicesJob) Out() (uint64, error) { return j.sum, nil }

func (j *devicesJob) Close() error {
	return errors.Join(j.Team.Close(), resident.CloseEach(j.parts))
}
