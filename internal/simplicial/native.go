package simplicial

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"eccbench/internal/grid"
)

// magic is the start of a file of our own format.
const magic = "SIMPLEX1"

// The file is little-endian. It has the magic, the number of dimensions and a flag for points as
// uint32, and the number of vertices as uint64. Each dimension has two uint64: the number of given
// simplices, and the number of all simplices (0 if not counted). Then come three float64 per
// vertex, if there are points, and the vertices of the simplices of each dimension as uint32.

// NativeSize returns the number of bytes that WriteNative writes.
func NativeSize(c *Complex) int64 {
	return int64(len(magic)+16+16*len(c.Tops)) + c.Bytes()
}

// WriteNative writes a complex, with its counts if they are known.
func WriteNative(w io.Writer, c *Complex) error {
	b := bufio.NewWriterSize(w, 1<<18)
	points := uint32(0)
	if c.Points != nil {
		points = 1
	}
	head := append([]byte(magic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(c.Tops)))
	binary.LittleEndian.PutUint32(head[12:], points)
	head = binary.LittleEndian.AppendUint64(head, uint64(c.Vertices))
	for d, tops := range c.Tops {
		counted := uint64(0)
		if c.counts != nil {
			counted = uint64(c.counts[d])
		}
		head = binary.LittleEndian.AppendUint64(head, uint64(len(tops)/(d+1)))
		head = binary.LittleEndian.AppendUint64(head, counted)
	}
	b.Write(head) // Flush returns the error of each write
	writeNumbers(b, c.Points)
	for _, tops := range c.Tops {
		writeNumbers(b, tops)
	}
	return b.Flush()
}

// isLittle reports whether the byte order of the machine is that of the file.
var isLittle = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// writeNumbers writes numbers: without a copy if the byte order allows it.
func writeNumbers[T uint32 | float64](w io.Writer, list []T) {
	if isLittle {
		w.Write(grid.Bytes(list))
		return
	}
	for some := range slices.Chunk(list, 1<<14) { // binary.Write copies its numbers
		binary.Write(w, binary.LittleEndian, some)
	}
}

// ReadNative returns the complex that WriteNative wrote. It keeps the lists in data if the
// machine's byte order allows it. If trusted is true, it does not check the counts.
func ReadNative(data []byte, trusted bool) (*Complex, error) {
	damaged := errors.New("the file is damaged: its contents differ from its header")
	if len(data) < len(magic)+16 || string(data[:len(magic)]) != magic {
		return nil, damaged
	}
	dims, points := binary.LittleEndian.Uint32(data[8:]), binary.LittleEndian.Uint32(data[12:])
	vertices := binary.LittleEndian.Uint64(data[16:])
	rest := data[len(magic)+16:]
	if dims > MaxDim+1 || points > 1 || vertices > math.MaxUint32 || uint64(len(rest)) < 16*uint64(dims) {
		return nil, damaged
	}
	c := &Complex{Vertices: int(vertices)}
	given := make([]uint64, dims)
	counts := make([]int64, dims)
	for d := range given {
		given[d], counts[d] = binary.LittleEndian.Uint64(rest), int64(binary.LittleEndian.Uint64(rest[8:]))
		rest = rest[16:]
	}
	if points == 1 {
		if vertices > uint64(len(rest))/24 {
			return nil, damaged
		}
		c.Points = view(rest[:24*vertices], 8,
			func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })
		rest = rest[24*vertices:]
	}
	for d, n := range given {
		if n > uint64(len(rest))/4/uint64(d+1) {
			return nil, damaged
		}
		bytes := 4 * n * uint64(d+1)
		c.Tops = append(c.Tops, view(rest[:bytes], 4, binary.LittleEndian.Uint32))
		rest = rest[bytes:]
	}
	if len(rest) > 0 || dims > 0 && given[dims-1] == 0 {
		return nil, damaged
	}
	if trusted && dims > 0 && counts[dims-1] > 0 {
		c.counts = counts
	}
	if trusted {
		return c, nil
	}
	if err := boundedVertices(c); err != nil {
		return nil, err
	}
	return c, c.Check()
}

// view converts bytes to numbers: without a copy if alignment and byte order allow it.
func view[T uint32 | float64](b []byte, size int, get func([]byte) T) []T {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if isLittle && uintptr(p)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(p), len(b)/size)
	}
	list := make([]T, len(b)/size)
	for i := range list {
		list[i] = get(b[size*i:])
	}
	return list
}

// boundedVertices rejects impossibly large numbers of vertices, which would need large tables.
func boundedVertices(c *Complex) error {
	used := int64(0)
	for _, tops := range c.Tops {
		used += int64(len(tops))
	}
	if n := int64(c.Vertices); c.Points == nil && n > 64*used+1024 {
		return fmt.Errorf("vertices are numbered up to %d, and simplices have %d in all: number them from 0 on", n-1, used)
	}
	return nil
}
