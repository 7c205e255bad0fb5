package resident

import (
	"fmt"
	"strings"

	"eccbench/internal/device"
	"eccbench/kernels"
)

// Load loads the named kernels of a module. It uses machine code if there is some for exactly this
// device and its driver accepts it. Else the driver compiles the PTX of these kernels only.
func Load(d device.Device, module string, names ...string) (device.Module, error) {
	info := d.Info()
	code, err := kernels.Machine(module, info.Major, info.Minor)
	if err != nil {
		return nil, err
	}
	if code != nil {
		m, err := d.LoadModule(module, code)
		if err == nil || !device.IsCodeRefused(err) {
			return m, named(err, names)
		}
	}
	ptx, err := kernels.PTX(module)
	if err != nil {
		return nil, err
	}
	return Compile(d, module, ptx, names)
}

// Compile has the driver compile the named kernels of a module.
func Compile(d device.Device, module string, ptx []byte, names []string) (device.Module, error) {
	only, err := kernels.Extract(module, ptx, names...)
	if err != nil {
		return nil, err
	}
	m, err := d.LoadModule(module, only)
	return m, named(err, names)
}

// named is an error with the kernels that were to be loaded.
func named(err error, names []string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("kernel %s: %w", strings.Join(names, ", "), err)
}
