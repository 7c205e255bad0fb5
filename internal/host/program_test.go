package host

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestMapped(t *testing.T) {
	maps := "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]\n" +
		"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n" +
		"7f0000001000-7f0000002000 r-xp 00001000 fe:01 1234                       /opt/a place/libeccbench.so\n" +
		"7f0000002000-7f0000003000 r-xp 00001000 fe:01 1235                       /opt/gone.so (deleted)\n"
	for at, want := range map[uint64]string{
		0x7f0000000fff: "", 0x7f0000001000: "/opt/a place/libeccbench.so", 0x7f0000001fff: "/opt/a place/libeccbench.so",
		0x7f0000002000: "/opt/gone.so (deleted)", 0x7f0000003000: "", 0x55d0c0000000: "[heap]",
	} {
		if got := mapped(maps, at); got != want {
			t.Errorf("%x: %q, want %q", at, got, want)
		}
	}
}

// This code is in the program itself, which is in the maps too.
func TestLibrary(t *testing.T) {
	if path, err := library(); path != "" || err != nil {
		t.Errorf("%q, %v", path, err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what file memory is of")
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	here, _, _, _ := runtime.Caller(0)
	self, err := os.Readlink(itself)
	if got := mapped(string(maps), uint64(here)); got != self || err != nil {
		t.Errorf("the code is in %q, want %q, %v", got, self, err)
	}
}

// On a system without a path of the running program, a replaced program starts no worker.
func TestReplacedProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("old"), 0o777); err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unchanged(path, was); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("newer"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unchanged(path, was); err == nil || !strings.Contains(err.Error(), path+" was replaced") {
		t.Errorf("replaced: %v", err)
	}
	os.Remove(path)
	if err := unchanged(path, was); err == nil {
		t.Error("gone, and no error")
	}
}
