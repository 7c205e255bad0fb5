package resident

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eccbench/internal/device"
)

// All is the user's name for all devices of the machine.
const All = "all"

// OpenAll opens the devices of a list: All, or names for Open separated by commas.
func (o Opener) OpenAll(list string) ([]device.Device, error) {
	if list == "" {
		return nil, errors.New("no devices are listed; --devices all takes all there are, --devices 0,1 two of them")
	}
	names := strings.Split(list, ",")
	if list == All {
		first, err := o("0")
		if err != nil {
			return nil, err
		}
		names = names[:0]
		for i := range first.Info().Count {
			names = append(names, strconv.Itoa(i))
		}
	}
	var devices []device.Device
	for _, name := range names {
		d, err := o(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(devices, func(e device.Device) bool { return e.Info().Index == d.Info().Index })
		if i >= 0 {
			return nil, fmt.Errorf("devices %s: %q and %q are the same one", list, names[i], name)
		}
		devices = append(devices, d)
	}
	return devices, nil
}
