package resident

import (
	"os"
	"unsafe"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// A Place is an image pinned in place. Of a periodic image it pins each piece once: a driver cannot
// pin more than the machine's memory, even if the pages repeat.
type Place struct {
	pinned device.Pinned
	cycle  int64 // bytes after which the image repeats itself, 0 when it does not
}

// At returns the memory and the offset of the image's bytes from off on.
func (p *Place) At(off int64) (device.Memory, int64) {
	if p.cycle > 0 {
		off %= p.cycle
	}
	return p.pinned, off
}

// Each calls f with the memory of n bytes of the image from off on, in order. It splits them where
// a periodic image repeats.
func (p *Place) Each(off, n int64, f func(from device.Memory, at, done, n int64) error) error {
	for done := int64(0); done < n; {
		from, at := p.At(off + done)
		part := n - done
		if p.cycle > 0 {
			part = min(part, p.cycle-at)
		}
		if err := f(from, at, done, part); err != nil {
			return err
		}
		done += part
	}
	return nil
}

// Close unpins the memory, if any.
func (p *Place) Close() error {
	if p == nil {
		return nil
	}
	return p.pinned.Close()
}

// Pin pins an image in place, for copies of at most piece bytes that begin at multiples of piece.
// It returns nil for an image that does not own its memory, or that is pinned already, such as a
// part of a pinned one. It also returns nil for a periodic image if the driver cannot pin memory
// with several addresses.
func Pin(d device.Device, in grid.Source, piece int64) (*Place, error) {
	f, ok := in.(*grid.Field)
	if !ok {
		return nil, nil
	}
	mem, cycle := f.Data(), grid.Period(f)*grid.SliceBytes(f)
	if cycle > 0 {
		once := cycle
		if cycle%piece != 0 { // one goes beyond the end
			once += piece
		}
		mem = mem[:min(once, int64(len(mem)))]
	}
	if !Pinnable(mem) {
		return nil, nil
	}
	pinned, err := d.Register("image", mem)
	if err != nil && (cycle > 0 || device.IsRegistered(err)) && !device.IsSticky(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Place{pinned, cycle}, nil
}

// Pinnable reports whether memory begins a page of its own and is worth pinning:
// small images share pages with others, and pages are pinned once.
func Pinnable(mem []byte) bool {
	return len(mem) >= 1<<20 && uintptr(unsafe.Pointer(&mem[0]))%uintptr(os.Getpagesize()) == 0
}
