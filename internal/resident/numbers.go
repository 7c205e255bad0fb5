package resident

import (
	"encoding/binary"
	"errors"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// Write copies a slice of numbers to a buffer, from an offset in bytes on, and waits until they are there.
func Write[T int32 | uint32 | uint64 | float32 | float64](s device.Stream, to device.Buffer, at int64,
	numbers []T) error {
	return s.Upload(to, at, grid.Bytes(numbers))
}

// PutNumbers allocates a buffer for numbers and copies them to it.
func PutNumbers[T int32 | uint32 | uint64 | float32 | float64](d device.Device, s device.Stream, name string,
	numbers []T) (device.Buffer, error) {
	b, err := d.Alloc(name, int64(binary.Size(numbers)))
	if err != nil {
		return nil, err
	}
	if err := Write(s, b, 0, numbers); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// NewNumbers is PutNumbers for memory that objects own.
func NewNumbers[T int32 | uint32 | uint64 | float32 | float64](o *Objects, s device.Stream, name string,
	numbers []T) device.Buffer {
	return Own(o, func() (device.Buffer, error) { return PutNumbers(o.On, s, name, numbers) })
}

// Read copies as many numbers from a buffer as a slice has.
func Read[T int32 | uint32 | float64](s device.Stream, numbers []T, from device.Buffer, off int64) error {
	data := make([]byte, binary.Size(numbers))
	if err := s.Download(data, from, off); err != nil {
		return err
	}
	_, err := binary.Decode(data, binary.LittleEndian, numbers)
	return err
}
