package read

import (
	"errors"

	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// An adder adds up words in a device's memory (kernels/read/memread.cu).
type adder struct {
	resident.Objects
	stream device.Stream
	kernel device.Function
	most   int64 // blocks that the device runs at a time
}

const block = 512

func newAdder(d device.Device) (*adder, error) {
	a := &adder{Objects: resident.NewObjects(d)}
	a.stream = a.NewStream("reading")
	a.kernel = a.Function(a.NewModule("memread", "memread"), "memread")
	if err := a.Err(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	each, err := a.kernel.Occupancy(block, 0)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.most = int64(d.Info().SMs * max(1, each))
	return a, nil
}

// shape returns the launch for the given number of words.
func (a *adder) shape(words int64) device.Launch {
	blocks := min(a.most, (words/2+block-1)/block)
	return device.Launch{Grid: device.Dim{X: max(1, blocks)}, Block: device.Dim{X: block}}
}

// add adds the first words of a buffer to a sum on the device.
func (a *adder) add(of device.Buffer, words int64, sum device.Buffer) error {
	return a.stream.Launch(a.kernel, a.shape(words), of, words, uint64(0), uint64(0), sum)
}

// Cool leaves nothing in the device's caches.
func (a *adder) Cool() error { return errors.Join(a.On.FlushL2(a.stream), a.stream.Wait()) }
