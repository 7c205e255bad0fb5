//go:build unix

package regular

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Only regular files are opened, also by links, and no open waits.
func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	err = errors.Join(syscall.Mkfifo("pipe", 0o600), os.Symlink("pipe", "link"),
		os.WriteFile("file", []byte("text"), 0o600), os.Symlink("file", "to"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		"pipe": ErrSpecial, "link": ErrSpecial, "socket": ErrSpecial, "/dev/zero": ErrSpecial,
		".": ErrDirectory, "none": fs.ErrNotExist, "file": nil, "to": nil,
	} {
		_, err := ReadFile(path, 4)
		if !errors.Is(err, want) ||
			err != nil && (!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	if _, err := ReadFile("file", 3); err == nil {
		t.Error("4 bytes are read where 3 are the most")
	}
	if list, err := filepath.Glob("*"); err != nil || len(list) != 5 {
		t.Errorf("%v (%v)", list, err)
	}
}

// TestText removes a byte order mark, and reports UTF-16.
func TestText(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "\ufeffa,b\n": "a,b\n", "\xff\xfea\x00": "!", "\xfe\xff\x00a": "!"} {
		data, err := io.ReadAll(Text(strings.NewReader(in)))
		if err != nil && err.Error() == "the text is UTF-16; save it as UTF-8" {
			data = append(data, '!')
		}
		if string(data) != want {
			t.Errorf("%q: %q, %v; want %q", in, data, err, want)
		}
	}
}
