package cuda

import (
	"fmt"
	"os"
	"unsafe"

	"eccbench/internal/device"
)

// minVersion is the oldest interface that is enough: CUDA 11.8.
const minVersion = 11080

// Driver is the CUDA driver of this machine.
type Driver struct {
	lib     *library
	version int32
}

var _ device.Driver = (*Driver)(nil)

// Load opens the CUDA driver: libcuda.so.1, or the library in ECCBENCH_LIBCUDA. If it is unusable,
// or has no device for this process, the error is a device.Unavailable. The driver itself reads
// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, which select and order the devices.
func Load() (*Driver, error) {
	path := libraryPath("ECCBENCH_LIBCUDA", "libcuda.so.1")
	handle, err := openLibrary(path)
	if err != nil {
		return nil, &device.Unavailable{Why: "no NVIDIA driver: " + oneLine(err.Error()), Err: err}
	}
	lib := &library{path: path, looks: mostLooks}
	// Check the version first: other functions that an old driver lacks do not matter.
	if missing := lib.find(handle, cuDriverGetVersion, cuGetErrorString); missing != "" {
		return nil, &device.Unavailable{Why: path + " is no CUDA driver: it has no " + missing}
	}
	d := &Driver{lib: lib}
	if err := d.call(path, cuDriverGetVersion, uintptr(unsafe.Pointer(&d.version))); err != nil {
		return nil, &device.Unavailable{Why: "no usable NVIDIA driver: " + err.Error(), Err: err}
	}
	if d.version < minVersion {
		return nil, &device.Unavailable{Why: fmt.Sprintf("the NVIDIA driver is too old: it supports CUDA %s, this needs %s",
			d.Version(), versionText(minVersion))}
	}
	if missing := lib.find(handle, cuInit, symbolCount-1); missing != "" {
		return nil, &device.Unavailable{Why: fmt.Sprintf("the NVIDIA driver of CUDA %s has no %s: %s", d.Version(), missing,
			path)}
	}
	if err := d.call(path, cuInit, 0); err != nil {
		return nil, &device.Unavailable{Why: "no usable NVIDIA device: " + err.Error() + visible(), Err: err}
	}
	n, err := d.count()
	if err != nil {
		return nil, &device.Unavailable{Why: "no usable NVIDIA device: " + err.Error() + visible(), Err: err}
	}
	if n == 0 {
		return nil, &device.Unavailable{Why: "no NVIDIA device" + visible()}
	}
	return d, nil
}

// visible describes how the environment selected devices.
func visible() string {
	if v, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set {
		return fmt.Sprintf(", with CUDA_VISIBLE_DEVICES=%q", v)
	}
	return ""
}

// call calls the driver about an object outside any context.
//
//go:uintptrescapes
func (d *Driver) call(object string, s symbol, args ...uintptr) error {
	if code := d.lib.call(s, args...); code != 0 {
		return d.lib.newError(s, code, object, "")
	}
	return nil
}

// Version is the newest CUDA that the driver supports: "12.8".
func (d *Driver) Version() string { return versionText(d.version) }

func (d *Driver) count() (int, error) {
	var n int32
	if err := d.call(d.lib.path, cuDeviceGetCount, uintptr(unsafe.Pointer(&n))); err != nil {
		return 0, err
	}
	return int(n), nil
}

// Devices describes every device that the driver shows to this process.
func (d *Driver) Devices() ([]device.Info, error) {
	n, err := d.count()
	if err != nil {
		return nil, err
	}
	list := make([]device.Info, n)
	for i := range list {
		if _, list[i], err = d.describe(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Open retains the device's primary context on a thread of its own.
func (d *Driver) Open(index int) (device.Device, error) {
	ordinal, info, err := d.describe(index)
	if err != nil {
		return nil, err
	}
	return open(d.lib, ordinal, info)
}
