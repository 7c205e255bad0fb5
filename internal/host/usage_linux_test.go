package host

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"eccbench/internal/memfile"
	"eccbench/internal/peers"
)

// Repeated mappings of a file share their memory, so a worker uses the memory of a single mapping.
func TestRepeatedMemory(t *testing.T) {
	const head, tile, size = 4096, 2 * memfile.HugePage, 4096 + 9*memfile.HugePage + 5
	f, err := memfile.New("tiled")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := memfile.Enlarge(f, head+tile); err != nil {
		t.Fatal(err)
	}
	whole, err := memfile.MapExtent(f, memfile.Extent{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer memfile.Unmap(whole)
	for i := range whole {
		whole[i] = byte(i / 4096)
	}
	e := memfile.Extent{From: head, Size: size}
	before := OwnMemory(peers.Family(os.Getpid()), []*os.File{f}, nil)
	for _, toPin := range []bool{false, true} {
		mapped, err := memfile.MapExtent(f, e, toPin)
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
		after := OwnMemory(peers.Family(os.Getpid()), []*os.File{f}, []memfile.Extent{e})
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
	inMemory, err := memfile.New("mine")
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

// The memory of the system without /proc is that of /proc, and the unused part is within it.
func TestSystemMemory(t *testing.T) {
	total, free := systemMemory()
	if want := kilobytes(procField("/proc/meminfo", "MemTotal")); total != want || free <= 0 || free > total {
		t.Errorf("%d of %d are free, want %d in total", free, total, want)
	}
}
