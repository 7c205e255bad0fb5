package runner

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"eccbench/internal/memfile"
	"eccbench/internal/peers"
)

// Shared memory has huge pages if the kernel provides them, and workers map it with huge pages.
func TestSharedMemoryIsOfHugePages(t *testing.T) {
	const size = 3*memfile.HugePage + 4096
	for what, have := range map[string]func(*os.File) error{
		"enlarged": func(f *os.File) error { return memfile.Enlarge(f, size) },
		"plain":    func(f *os.File) error { return f.Truncate(size) },
	} {
		f, err := newFile(what)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := have(f); err != nil {
			t.Fatal(err)
		}
		mapped, err := mapFile(f)
		if err != nil {
			t.Fatal(err)
		}
		defer memfile.Unmap(mapped)
		if len(mapped) != size {
			t.Errorf("%s: %d bytes mapped, want %d", what, len(mapped), size)
		}
		if at := uintptr(unsafe.Pointer(&mapped[0])); at%memfile.HugePage != 0 {
			t.Errorf("%s: mapped at %#x, want a multiple of %#x", what, at, memfile.HugePage)
		}
		var sum byte
		for _, b := range mapped {
			sum |= b
		}
		if sum != 0 {
			t.Errorf("%s: new memory is not zero", what)
		}
		want := 0
		if what == "enlarged" {
			if err := collapsible(); err != nil {
				t.Skipf("the kernel gives no huge pages: %v", err)
			}
			want = 3 * memfile.HugePage
		}
		if got := hugeBytes(t, mapped); got != want {
			t.Errorf("%s: %d bytes are mapped as huge pages, want %d", what, got, want)
		}
	}
}

// collapsible tests with a single huge page whether the kernel provides any.
func collapsible() error {
	f, err := newFile("one huge page")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(memfile.HugePage); err != nil {
		return err
	}
	room, err := unix.Mmap(-1, 0, 2*memfile.HugePage, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(room)
	at := unsafe.Pointer(&room[-uintptr(unsafe.Pointer(&room[0]))%memfile.HugePage])
	if _, err := unix.MmapPtr(int(f.Fd()), 0, at, memfile.HugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		return err
	}
	page := unsafe.Slice((*byte)(at), memfile.HugePage)
	page[0] = 1
	return unix.Madvise(page, unix.MADV_COLLAPSE)
}

// hugeBytes returns the number of bytes of a mapping in huge pages.
func hugeBytes(t *testing.T, mapped []byte) int {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	begin := fmt.Sprintf("%x-", uintptr(unsafe.Pointer(&mapped[0])))
	lines := bufio.NewScanner(f)
	for found := false; lines.Scan(); {
		found = found || strings.HasPrefix(lines.Text(), begin)
		var kib int
		if n, _ := fmt.Sscanf(lines.Text(), "ShmemPmdMapped: %d kB", &kib); found && n == 1 {
			return kib << 10
		}
	}
	t.Skip("/proc/self/smaps does not tell huge pages")
	return 0
}

// Repeated mappings of a file share their memory, so a worker uses the memory of a single mapping.
func TestRepeatedMemory(t *testing.T) {
	const head, tile, size = 4096, 2 * memfile.HugePage, 4096 + 9*memfile.HugePage + 5
	f, err := newFile("tiled")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := memfile.Enlarge(f, head+tile); err != nil {
		t.Fatal(err)
	}
	whole, err := mapExtent(f, extent{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer memfile.Unmap(whole)
	for i := range whole {
		whole[i] = byte(i / 4096)
	}
	e := extent{From: head, Size: size}
	before := ownMemory(peers.Family(os.Getpid()), []*os.File{f}, nil)
	for _, toPin := range []bool{false, true} {
		mapped, err := mapExtent(f, e, toPin)
		if err != nil {
			t.Fatal(err)
		}
		memfile.Populate(mapped)
		for i, b := range mapped {
			at := i
			if i >= head {
				at = head + (i-head)%tile
			}
			if b != whole[at] {
				t.Fatalf("to pin %v: byte %d of %d is %d, want %d", toPin, i, len(mapped), b, whole[at])
			}
		}
		if toPin {
			mapped[head+1] = 77
			if mapped[head+tile+1] != 77 || whole[head+1] != 77 {
				t.Errorf("it is not the same memory")
			}
		}
		after := ownMemory(peers.Family(os.Getpid()), []*os.File{f}, []extent{e})
		if len(mapped) != size || after > before+memfile.HugePage {
			t.Errorf("to pin %v: %d bytes mapped, of own memory %d before and %d after", toPin, len(mapped), before, after)
		}
		memfile.Unmap(mapped)
	}
}

// The open files in memory of a process count as its memory, each once, and no other files do.
func TestFilesInMemoryAreMemory(t *testing.T) {
	const size = 1 << 20
	onDisk, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer onDisk.Close()
	inMemory, err := newFile("mine")
	if err != nil {
		t.Fatal(err)
	}
	defer inMemory.Close()
	again, err := unix.Dup(int(inMemory.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(again)
	before := inFiles(os.Getpid(), map[uint64]bool{})
	for _, f := range []*os.File{onDisk, inMemory} {
		if _, err := f.Write(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	if n := inFiles(os.Getpid(), map[uint64]bool{}) - before; n != size {
		t.Errorf("%d bytes more are in memory, want %d", n, size)
	}
}

// If a sandbox forbids files in memory, files are on the disk.
func TestNoFilesInMemory(t *testing.T) {
	defer func(f func(string, int) (int, error)) { memfdCreate = f }(memfdCreate)
	for _, denied := range []error{unix.EPERM, unix.ENOSYS} {
		memfdCreate = func(string, int) (int, error) { return -1, denied }
		f, err := newFile("a file")
		if err != nil {
			t.Fatalf("%v: %v", denied, err)
		}
		defer f.Close()
		if err := memfile.Enlarge(f, 5000); err != nil {
			t.Errorf("%v: %v", denied, err)
		}
		if _, err := os.Stat(f.Name()); err == nil {
			t.Errorf("%v: %s is left", denied, f.Name())
		}
	}
}

// A file too large to be mapped is an error.
func TestTooLargeToMap(t *testing.T) {
	f, err := newFile("a file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := memfile.Enlarge(f, 1<<50); err == nil {
		t.Error("a file is mapped that is longer than there are addresses")
	}
}
