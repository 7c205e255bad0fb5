package resident

import (
	"encoding/binary"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// Write copies a slice of numbers to a buffer, from an offset in bytes on, and waits until they are there.
func Write[T int32 | uint32 | uint64 | float32 | float64](s device.Stream, to device.Buffer, at int64,
	numbers []T) error {
	return s.Upload(to, at, grid.Bytes(numbers))
}

// NewNumbers allocates memory of the device for numbers and copies them to it.
func NewNumbers[T int32 | uint32 | uint64 | float32 | float64](o *Objects, s device.Stream, name string,
	numbers []T) device.Buffer {
	b := o.NewBuffer(name, int64(binary.Size(numbers)))
	if o.err == nil {
		o.err = Write(s, b, 0, numbers)
	}
	return b
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
