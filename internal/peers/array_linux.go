package peers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"eccbench/internal/memfile"
)

// headBytes is the length of the header of an array, a page, so that its data are aligned.
const headBytes = 4096

// An Array is a .npy file in memory that a peer opens by its path.
type Array struct {
	file   *os.File // nil for one of another process
	mapped []byte
	at     int64 // of the elements
}

// NewArray makes an array of zeros of a NumPy type such as "<f4", the last axis the fastest. Only
// this process can write to a sealed one.
func NewArray(label, kind string, shape []int64, sealed bool) (*Array, error) {
	fail := func(err error) (*Array, error) {
		return nil, fmt.Errorf("memory to share with a peer: %w", err)
	}
	fd, err := unix.MemfdCreate("eccbench "+label, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return fail(err)
	}
	a := &Array{file: os.NewFile(uintptr(fd), label), at: headBytes}
	size := headBytes + Bytes(kind, shape)
	if err = memfile.Enlarge(a.file, size); err == nil {
		a.mapped, err = memfile.Map(a.file, size, unix.PROT_READ|unix.PROT_WRITE)
	}
	if err != nil {
		a.Close()
		return fail(err)
	}
	memfile.Populate(a.mapped)
	a.describe(kind, shape)
	seals := unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	if sealed {
		seals |= unix.F_SEAL_FUTURE_WRITE
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		a.Close()
		return fail(err)
	}
	return a, nil
}

// describe writes the header.
func (a *Array) describe(kind string, shape []int64) {
	axes := ""
	for _, n := range shape {
		axes += fmt.Sprintf("%d, ", n)
	}
	head := a.mapped[copy(a.mapped, "\x93NUMPY\x01\x00\xf6\x0f"):headBytes] // 4086 bytes follow
	copy(head, bytes.Repeat([]byte(" "), len(head)))
	copy(head, fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", kind, axes))
	head[len(head)-1] = '\n'
}

// Image returns a sealed array for an image that the process will read: the one of Recycle if it has the same size,
// with its old elements, since new memory is slow.
func (x *Process) Image(kind string, shape []int64) (*Array, error) {
	x.mu.Lock()
	a := x.spare
	x.spare = nil
	x.mu.Unlock()
	if a != nil && int64(len(a.Data())) == Bytes(kind, shape) {
		a.describe(kind, shape)
		return a, nil
	}
	if a != nil {
		a.Close()
	}
	return NewArray("image", kind, shape, true)
}

// Recycle keeps the memory of an image for the next one.
func (x *Process) Recycle(image *Array) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.spare != nil {
		x.spare.Close()
	}
	x.spare = image
}

// Path returns the path by which the peer opens the array.
func (a *Array) Path() string { return PathOf(a.file) }

// PathOf returns the path by which another process opens a file of this one.
func PathOf(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// Data returns the bytes of its elements.
func (a *Array) Data() []byte { return a.mapped[a.at:] }

// Close frees the memory.
func (a *Array) Close() {
	memfile.Unmap(a.mapped)
	a.file.Close()
}

// OpenAt maps the file at a path, whose elements begin at an offset.
func OpenAt(path string, at int64, writable bool) (a *Array, err error) {
	how, protection := os.O_RDONLY, unix.PROT_READ
	if writable {
		how, protection = os.O_RDWR, unix.PROT_READ|unix.PROT_WRITE
	}
	f, err := os.OpenFile(path, how, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // the mapping keeps the file
	a = &Array{at: at}
	info, err := f.Stat()
	if err == nil && info.Size() < at {
		err = fmt.Errorf("%d bytes, want %d or more", info.Size(), at)
	}
	if err == nil {
		a.mapped, err = memfile.Map(f, info.Size(), protection)
	}
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", path, err)
	}
	memfile.Populate(a.mapped)
	return a, nil
}

// field returns the text of a field in the header of an array, between two others.
func field(head, before, after string) (text string, found bool) {
	_, text, found = strings.Cut(head, before)
	text, _, ended := strings.Cut(text, after)
	return text, found && ended
}

// Open maps the array at a path, as a peer does, and returns its NumPy type and its shape.
func Open(path string, writable bool) (a *Array, kind string, shape []int64, err error) {
	if a, err = OpenAt(path, headBytes, writable); err != nil {
		return nil, "", nil, err
	}
	head := string(a.mapped[:headBytes])
	kind, described := field(head, "'descr': '", "'")
	axes, shaped := field(head, "'shape': (", ")")
	if !described || !shaped {
		a.Close()
		return nil, "", nil, fmt.Errorf("%s: no header of an array", path)
	}
	for axis := range strings.FieldsFuncSeq(axes, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.ParseInt(axis, 10, 64)
		if err != nil {
			a.Close()
			return nil, "", nil, fmt.Errorf("%s: %w", path, err)
		}
		shape = append(shape, n)
	}
	return a, kind, shape, nil
}
