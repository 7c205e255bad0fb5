// Package regular opens the files that people name in arguments. Named pipes, devices, sockets
// and directories are errors, so no open waits, acts on a device or reads without end.
package regular

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

var (
	// ErrDirectory and ErrSpecial are the errors of paths that name no regular file.
	ErrDirectory = errors.New("is a directory; name one file")
	ErrSpecial   = errors.New("is not a regular file (a pipe, a device or a socket); copy it to one")
	// ErrLocked and ErrNoLocks are the errors of Lock. File systems of some clusters have no locks.
	ErrLocked  = errors.New("another program is writing to it")
	ErrNoLocks = errors.New("the file system has no locks")
)

// Open opens a regular file to read it.
func Open(path string) (f *os.File, info fs.FileInfo, err error) {
	info, err = os.Stat(path) // first, since opening a device may have effects
	if err == nil {
		err = check(info)
	}
	if err == nil { // without waiting, should it have become a pipe
		f, err = os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	}
	if err == nil {
		if info, err = f.Stat(); err == nil {
			err = check(info)
		}
		if err != nil {
			f.Close() // nobody reads it
		}
	}
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: cause(err)}
	}
	return f, info, nil
}

// ReadFile reads a regular file. One of more than most bytes is an error.
func ReadFile(path string, most int64) ([]byte, error) {
	f, info, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	if err = checkSize(info.Size(), most); err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // it is shorter by now
	}
	return data[:n], err
}

// Text reads a text without the byte order mark that spreadsheets and editors of Windows put before
// it. UTF-16 is an error of the first Read.
func Text(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	mark, _ := b.Peek(3) // what fails here fails in Read, too
	switch text := string(mark); {
	case text == "\ufeff":
		b.Discard(len(mark))
	case strings.HasPrefix(text, "\xff\xfe"), strings.HasPrefix(text, "\xfe\xff"):
		return wide{}
	}
	return b
}

// wide is a text in UTF-16.
type wide struct{}

func (wide) Read([]byte) (int, error) { return 0, errors.New("the text is UTF-16; save it as UTF-8") }

// checkSize returns an error if a file has more than most bytes.
func checkSize(size, most int64) error {
	if size > most {
		return fmt.Errorf("has %d bytes, and may have %d at most", size, most)
	}
	return nil
}

func check(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrDirectory
	case !info.Mode().IsRegular():
		return ErrSpecial
	}
	return nil
}

// cause returns an error of package os without the path.
func cause(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
