package resident

import (
	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// partsApart is the alignment of parts of a buffer, in bytes.
const partsApart = 256

// PartsBytes returns the size of a buffer for parts of some sizes, at an address that is a multiple of 256.
func PartsBytes(sizes []int64) (bytes int64) {
	for _, n := range sizes {
		bytes += grid.CeilDiv(n, partsApart) * partsApart
	}
	return bytes
}

// Parts divides a buffer into parts of some sizes. Each begins at a multiple of 256 from the beginning.
func Parts(d device.Guest, of device.Buffer, sizes []int64) (parts []device.Buffer) {
	at := of.Address()
	for _, n := range sizes {
		parts = append(parts, d.LentBuffer("part of "+of.Name(), at, n))
		at += uint64(PartsBytes([]int64{n}))
	}
	return parts
}
