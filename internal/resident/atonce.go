package resident

import (
	"fmt"

	"eccbench/internal/device"
)

// AtOnce completes a launch of a kernel, whose threads and shared memory are said, by as many blocks as run at
// once on the device.
func AtOnce(d device.Device, f device.Function, l *device.Launch) error {
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
