package cuda

import (
	"fmt"
	"strings"
	"unsafe"

	"eccbench/internal/device"
)

// attributes lists the driver's numbers of device attributes, and their destinations.
var attributes = []struct {
	number int
	set    func(*device.Info, int)
}{
	{1, func(i *device.Info, v int) { i.ThreadsPerBlock = v }},
	{8, func(i *device.Info, v int) { i.Shared = int64(v) }},
	{10, func(i *device.Info, v int) { i.Warp = v }},
	{13, func(i *device.Info, v int) { i.Clock = int64(v) }},
	{16, func(i *device.Info, v int) { i.SMs = v }},
	{17, func(i *device.Info, v int) { i.Watchdog = v != 0 }},
	{18, func(i *device.Info, v int) { i.Integrated = v != 0 }},
	{22, func(i *device.Info, v int) { i.Texture2D[0] = int64(v) }},
	{23, func(i *device.Info, v int) { i.Texture2D[1] = int64(v) }},
	{24, func(i *device.Info, v int) { i.Texture3D[0] = int64(v) }},
	{25, func(i *device.Info, v int) { i.Texture3D[1] = int64(v) }},
	{26, func(i *device.Info, v int) { i.Texture3D[2] = int64(v) }},
	{32, func(i *device.Info, v int) { i.ECC = v != 0 }},
	{36, func(i *device.Info, v int) { i.MemoryClock = int64(v) }},
	{37, func(i *device.Info, v int) { i.BusBits = v }},
	{38, func(i *device.Info, v int) { i.L2 = int64(v) }},
	{39, func(i *device.Info, v int) { i.ThreadsPerSM = v }},
	{40, func(i *device.Info, v int) { i.CopyEngines = v }},
	{75, func(i *device.Info, v int) { i.Major = v }},
	{76, func(i *device.Info, v int) { i.Minor = v }},
	{81, func(i *device.Info, v int) { i.SharedPerSM = int64(v) }},
	{82, func(i *device.Info, v int) { i.Registers = int64(v) }},
	{97, func(i *device.Info, v int) { i.SharedOptIn = int64(v) }},
	{106, func(i *device.Info, v int) { i.BlocksPerSM = v }},
	{108, func(i *device.Info, v int) { i.L2Persisting = int64(v) }},
	{111, func(i *device.Info, v int) { i.SharedReserved = int64(v) }},
}

// describe returns the description of the device with an index.
func (d *Driver) describe(index int) (ordinal int32, info device.Info, err error) {
	// The driver would only report "invalid device ordinal".
	n, err := d.count()
	if err != nil {
		return 0, info, err
	}
	if index < 0 || index >= n {
		return 0, info, fmt.Errorf("device %d: the driver shows %d to this process%s", index, n, visible())
	}
	info = device.Info{Index: index, Count: n, Driver: d.Version()}
	about := fmt.Sprintf("device %d", index)
	if err := d.call(about, cuDeviceGet, uintptr(unsafe.Pointer(&ordinal)), uintptr(index)); err != nil {
		return 0, info, err
	}
	dev := uintptr(ordinal)
	text := make([]byte, 256)
	if err := d.call(about, cuDeviceGetName, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)-1), dev); err != nil {
		return 0, info, err
	}
	info.Name = cstring(&text[0])
	clear(text)
	if err := d.call(about, cuDeviceGetPCIBusId, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)-1),
		dev); err != nil {
		return 0, info, err
	}
	info.PCI = strings.ToLower(cstring(&text[0]))
	var id [16]byte
	if err := d.call(about, cuDeviceGetUuid, uintptr(unsafe.Pointer(&id)), dev); err != nil {
		return 0, info, err
	}
	info.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	if err := d.call(about, cuDeviceTotalMem, uintptr(unsafe.Pointer(&info.Memory)), dev); err != nil {
		return 0, info, err
	}
	for _, a := range attributes {
		var v int32
		if err := d.call(fmt.Sprintf("%s, attribute %d", about, a.number), cuDeviceGetAttribute, uintptr(unsafe.Pointer(&v)),
			uintptr(a.number), dev); err != nil {
			return 0, info, err
		}
		a.set(&info, int(v))
	}
	return ordinal, info, nil
}
