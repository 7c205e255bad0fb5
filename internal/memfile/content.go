//go:build !js

package memfile

import (
	"encoding/binary"
	"os"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// Copy copies a file in memory.
func Copy(f *os.File) (*os.File, error) {
	from, err := MapWhole(f)
	if err != nil {
		return nil, err
	}
	defer Unmap(from)
	to, err := New(f.Name())
	if err != nil {
		return nil, err
	}
	if err = Enlarge(to, int64(len(from))); err == nil {
		var place []byte
		if place, err = MapExtent(to, Extent{}, true); err == nil {
			copy(place, from)
			Unmap(place)
		}
	}
	if err != nil {
		to.Close()
	}
	return to, err
}

// Hash hashes the content of a file on all cores.
func Hash(f *os.File) (uint64, error) {
	mapped, err := MapWhole(f)
	if err != nil {
		return 0, err
	}
	defer Unmap(mapped)
	const part = 64 << 20
	hashes := make([]uint64, (len(mapped)+part-1)/part)
	crew.InTurn(runtime.GOMAXPROCS(0), len(hashes), func(_, i int) {
		hashes[i] = grid.Hash(mapped[i*part : min((i+1)*part, len(mapped))])
	})
	var all []byte
	for _, h := range hashes {
		all = binary.LittleEndian.AppendUint64(all, h)
	}
	return grid.Hash(all), nil
}

// A Region is memory that can be shared, writable so that a device can pin it.
type Region struct {
	file   *os.File
	Mapped []byte
}

// NewRegion allocates a region of zeros. Its file is sealed: no other process writes to it.
func NewRegion(size int64) (m Region, err error) {
	if m.file, err = New("a region"); err != nil {
		return m, err
	}
	if err = m.file.Truncate(size); err == nil {
		m.Mapped, err = MapExtent(m.file, Extent{}, true)
	}
	Seal(m.file)
	if err != nil {
		m.Close()
	}
	return m, err
}

// Close frees the region.
func (m Region) Close() {
	Unmap(m.Mapped)
	m.file.Close() // the file has no name and is in memory: nothing is lost
}
