package read

import (
	"errors"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// ToDevice copies an image from pinned memory of the host to a device and does
// nothing else: the ceiling of what begins on the host and counts on a device.
type ToDevice struct{ Open resident.Opener }

// About describes the method.
func (ToDevice) About() bench.About {
	return bench.About{
		Name:   "copy-gpu",
		Where:  "gpu",
		Method: "copies the image from pinned memory to the device: the ceiling of a device fed by the host",
		Source: "one stream, pieces of 32 MiB",
		Scopes: []bench.Scope{bench.E2E},
	}
}

// CanDo refuses what does not fit the device.
func (c ToDevice) CanDo(in grid.Source, conditions bench.Conditions) error {
	return OnDevice(c).CanDo(in, conditions)
}

// Setup pins the image on the host.
func (c ToDevice) Setup(in grid.Source, conditions bench.Conditions) (bench.Job[uint64], error) {
	reader, err := OnDevice(c).Setup(in, conditions)
	if err != nil {
		return nil, err
	}
	j := &copyJob{deviceJob: reader.(*deviceJob)}
	if err := j.pin(in); err != nil {
		j.Close() // the first error is the one to report
		return nil, err
	}
	return j, nil
}

// A copyJob copies what a deviceJob then reads for the answer.
type copyJob struct {
	*deviceJob
	host device.Pinned
}

// pin puts the image as the device has it into pinned memory.
func (j *copyJob) pin(in grid.Source) (err error) {
	if j.host, err = j.d.AllocPinned("image on the host", 8*j.words); err != nil {
		return err
	}
	return j.stream.Download(j.host.Data(), j.image, 0)
}

func (j *copyJob) Do(trace *bench.Trace) error {
	defer trace.Span("copy")()
	return j.d.Do(func() error {
		const piece = 32 << 20
		for at := int64(0); at < 8*j.words; at += piece {
			if err := j.stream.Copy(j.image, at, j.host, at, min(piece, 8*j.words-at)); err != nil {
				return err
			}
		}
		return j.stream.Wait()
	})
}

// Out reads what the copy brought to the device.
func (j *copyJob) Out() (uint64, error) {
	if err := j.deviceJob.Do(nil); err != nil {
		return 0, err
	}
	return j.deviceJob.Out()
}

// Poison overwrites the image on the device.
func (j *copyJob) Poison() {
	// A device that cannot be written to fails at the next call, with the reason.
	_ = j.stream.Fill(j.image, 0, j.image.Bytes(), 0x5a)
	_ = j.stream.Wait()
}

func (j *copyJob) Close() error {
	return errors.Join(resident.CloseAll(j.host), j.deviceJob.Close())
}
