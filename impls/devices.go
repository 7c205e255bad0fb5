package impls

import (
	"sync"

	"eccbench/internal/cuda"
	"eccbench/internal/device"
	"eccbench/internal/resident"
)

// Devices opens the devices of this machine, each once: the implementations of a
// process share it. Nothing is loaded before the first call, which only workers
// make. A device is not closed before its process ends.
func Devices() resident.Opener {
	var mu sync.Mutex
	opened := map[int]device.Device{}
	return func(which string) (device.Device, error) {
		mu.Lock()
		defer mu.Unlock()
		driver, err := cuda.Load()
		if err != nil {
			return nil, err
		}
		list, err := driver.Devices()
		if err != nil {
			return nil, err
		}
		info, err := device.Choose(list, which)
		if err != nil {
			return nil, err
		}
		if d, ok := opened[info.Index]; ok {
			return d, nil
		}
		d, err := driver.Open(info.Index)
		if err != nil {
			return nil, err
		}
		opened[info.Index] = d
		return d, nil
	}
}
