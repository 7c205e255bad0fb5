package bench

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// If the disk is full in the middle of a record, the file ends with the record before it.
func TestDiskThatFillsUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	log, err := CreateLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Append(sampleRun()); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	less := syscall.Rlimit{Cur: uint64(before.Size()) + 10, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &less); err != nil {
		t.Skip(err)
	}
	err = log.Append(sampleCell())
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit) // as it was
	if after, serr := os.Stat(path); err == nil || serr != nil || after.Size() != before.Size() {
		t.Errorf("%v; %d bytes, then %d, %v", err, before.Size(), after.Size(), serr)
	}
}
