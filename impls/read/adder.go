package read

import (
	"errors"

	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// An adder adds up words in a device's memory (kernels/read/memread.cu). A nil one was
// never made.
type adder struct {
	d      device.Device
	stream device.Stream
	module device.Module
	kernel device.Function
	most   int64 // blocks that the device runs at a time
}

const block = 512

func newAdder(d device.Device) (*adder, error) {
	a := &adder{d: d}
	if err := a.open(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *adder) open() (err error) {
	if a.stream, err = a.d.NewStream("reading"); err != nil {
		return err
	}
	if a.module, err = resident.Load(a.d, "memread", "memread"); err != nil {
		return err
	}
	if a.kernel, err = a.module.Function("memread"); err != nil {
		return err
	}
	each, err := a.kernel.Occupancy(block, 0)
	a.most = int64(a.d.Info().SMs * max(1, each))
	return err
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
func (a *adder) Cool() error { return errors.Join(a.d.FlushL2(a.stream), a.stream.Wait()) }

func (a *adder) wait() error {
	if a == nil {
		return nil
	}
	return a.stream.Wait()
}

func (a *adder) Close() error {
	if a == nil {
		return nil
	}
	return resident.CloseAll(a.module, a.stream)
}
