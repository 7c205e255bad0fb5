package memfile

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Shared memory has huge pages if the kernel provides them, and workers map it with huge pages.
func TestSharedMemoryIsOfHugePages(t *testing.T) {
	const size = 3*HugePage + 4096
	for what, have := range map[string]func(*os.File) error{
		"enlarged": func(f *os.File) error { return Enlarge(f, size) },
		"plain":    func(f *os.File) error { return f.Truncate(size) },
	} {
		f, err := New(what)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := have(f); err != nil {
			t.Fatal(err)
		}
		mapped, err := MapWhole(f)
		if err != nil {
			t.Fatal(err)
		}
		defer Unmap(mapped)
		if len(mapped) != size {
			t.Errorf("%s: %d bytes mapped, want %d", what, len(mapped), size)
		}
		if at := uintptr(unsafe.Pointer(&mapped[0])); at%HugePage != 0 {
			t.Errorf("%s: mapped at %#x, want a multiple of %#x", what, at, HugePage)
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
			want = 3 * HugePage
		}
		if got := hugeBytes(t, mapped); got != want {
			t.Errorf("%s: %d bytes are mapped as huge pages, want %d", what, got, want)
		}
	}
}

// collapsible tests with a single huge page whether the kernel provides any.
func collapsible() error {
	f, err := New("one huge page")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(HugePage); err != nil {
		return err
	}
	room, err := unix.Mmap(-1, 0, 2*HugePage, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(room)
	at := unsafe.Pointer(&room[-uintptr(unsafe.Pointer(&room[0]))%HugePage])
	if _, err := unix.MmapPtr(int(f.Fd()), 0, at, HugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED); err != nil {
		return err
	}
	page := unsafe.Slice((*byte)(at), HugePage)
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

// If a sandbox forbids files in memory, files are on the disk.
func TestNoFilesInMemory(t *testing.T) {
	defer func(f func(string, int) (int, error)) { memfdCreate = f }(memfdCreate)
	for _, denied := range []error{unix.EPERM, unix.ENOSYS} {
		memfdCreate = func(string, int) (int, error) { return -1, denied }
		f, err := New("a file")
		if err != nil {
			t.Fatalf("%v: %v", denied, err)
		}
		defer f.Close()
		if err := Enlarge(f, 5000); err != nil {
			t.Errorf("%v: %v", denied, err)
		}
		if _, err := os.Stat(f.Name()); err == nil {
			t.Errorf("%v: %s is left", denied, f.Name())
		}
	}
}

// A file too large to be mapped is an error.
func TestTooLargeToMap(t *testing.T) {
	f, err := New("a file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Enlarge(f, 1<<50); err == nil {
		t.Error("a file is mapped that is longer than there are addresses")
	}
}
