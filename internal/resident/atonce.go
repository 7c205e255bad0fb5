package resident

import (
	"fmt"

	"eccbench/internal/device"
)

// FillDevice sets the grid of a launch to the number of blocks that run at once on the device. The
// launch has its threads and shared memory.
func FillDevice(d device.Device, f device.Function, l *device.Launch) error {
	info := d.Info()
	if l.Shared+f.Attributes().Shared > info.Shared {
		if err := f.AllowShared(l.Shared); err != nil {
			return err
		}
	}
	each, err := f.Occupancy(l.Block.X, l.Shared)
	if err == nil && each == 0 {
		err = fmt.Errorf("kernel %s: no multiprocessor has room for a block", f.Name())
	}
	l.Grid.X = int64(info.SMs) * int64(each)
	return err
}
