package storage

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file has changed if its content, time, size or identity differs.
func TestStamps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	was := Stamps([]string{path})
	if got := Changed(was); got != "" {
		t.Errorf("%s has changed", got)
	}
	for what, change := range map[string]func(){
		"content": func() { write("two") },
		"size":    func() { write("three") },
		"time":    func() { write("one"); os.Chtimes(path, time.Unix(2, 0), time.Unix(2, 0)) },
		"file":    func() { os.Rename(path, path+".old"); write("one") },
		"none":    func() { os.Remove(path) },
	} {
		if change(); Changed(was) != path {
			t.Errorf("another %s: no change", what)
		}
		os.Remove(path)
		write("one")
		was = Stamps([]string{path})
	}
	// Two writes may have all times in common.
	write("two")
	var err error
	if was[0].info, err = os.Stat(path); err != nil || Changed(was) != path {
		t.Errorf("other bytes of the same times and size: no change, %v", err)
	}
}

// Contents distinguish files up to a total size; larger files are distinguished by their size and
// time only.
func TestStampsOfLargeFiles(t *testing.T) {
	var paths []string
	for i, size := range []int{small - 1, 2, 1, 1} {
		path := filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
			t.Fatalf("file %d: %v", i, err)
		}
		paths = append(paths, path)
	}
	for i, s := range Stamps(paths) {
		if read, want := s.sum != [len(s.sum)]byte{}, i == 0 || i == 2; read != want {
			t.Errorf("file %d was read: %v, want %v", i, read, want)
		}
	}
}
