package regular

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// A New is a file that is being written under a hidden name next to its own. Commit gives it its
// name. Close it by Commit or Drop.
type New struct {
	*os.File
	path string
}

// hidden matches the names of files that are being written. Each is locked until its process ends,
// so the next process can remove the files of a killed one.
var hidden = regexp.MustCompile(`^\.eccbench-[A-Z2-7]{16}$`)

// unwritten are the hidden files of this process, and the folders that were swept.
var unwritten = struct {
	sync.Mutex
	names, swept map[string]bool
}{names: map[string]bool{}, swept: map[string]bool{}}

// Create begins a file. It has the mode of the file that it replaces, or that of any new file.
func Create(path string) (*New, error) {
	unwritten.Lock()
	defer unwritten.Unlock()
	dir := filepath.Dir(path)
	if !unwritten.swept[dir] {
		unwritten.swept[dir] = true
		sweep(dir)
	}
	f, err := createHidden(dir)
	if err != nil {
		return nil, cause(err)
	}
	if info, err := os.Stat(path); err == nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return nil, errors.Join(cause(err), f.Close(), os.Remove(f.Name()))
		}
	}
	unwritten.names[f.Name()] = true
	return &New{f, path}, nil
}

// createHidden makes a locked file of a hidden name. If another process removes it before it is
// locked, createHidden makes another.
func createHidden(dir string) (*os.File, error) {
	for {
		name := filepath.Join(dir, ".eccbench-"+rand.Text()[:16])
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666) // less the umask
		if err != nil {
			return nil, err
		}
		locked := Lock(f)
		if _, err := os.Stat(name); err == nil && !errors.Is(locked, ErrLocked) {
			return f, nil
		}
		f.Close() // it is removed
	}
}

// sweep removes hidden files in a folder that no process has locked. It removes none on a file
// system without locks.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // and no file can be made there either
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !hidden.MatchString(e.Name()) {
			continue
		}
		removeUnlocked(name, name)
	}
}

// removeUnlocked removes a file or folder if no process has locked a file, and keeps the lock meanwhile.
func removeUnlocked(lock, path string) {
	f, _, err := Open(lock)
	if err != nil {
		return
	}
	defer f.Close() // nobody reads it
	if Lock(f) == nil {
		os.RemoveAll(path) // or the next process does
	}
}

// Commit gives the file its name once all data is on the disk.
func (n *New) Commit() error {
	err := n.Sync()
	if e := n.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(n.Name(), n.path)
	}
	if err != nil {
		n.Drop()
		return err
	}
	unwritten.Lock()
	defer unwritten.Unlock()
	delete(unwritten.names, n.Name())
	return nil
}

// Drop removes the file, unless Commit has given it its name.
func (n *New) Drop() {
	unwritten.Lock()
	defer unwritten.Unlock()
	if unwritten.names[n.Name()] {
		n.Close() // it may be closed
		os.Remove(n.Name())
		delete(unwritten.names, n.Name())
	}
}

// DropAll removes all files that this process is writing, which begins no others. The process is
// to end then.
func DropAll() {
	unwritten.Lock() // never unlocked: the process ends
	for name := range unwritten.names {
		os.Remove(name) // all that can be done
	}
}

// MkdirTemp makes a folder in $TMPDIR whose name begins with prefix, locked while this process
// lives. It also removes such folders of processes that were killed.
func MkdirTemp(prefix string) (dir string, err error) {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*", lockName))
	if err != nil {
		return "", err
	}
	for _, name := range left {
		removeUnlocked(name, filepath.Dir(name))
	}
	if dir, err = os.MkdirTemp("", prefix+"*"); err != nil {
		return "", err
	}
	name := filepath.Join(dir, lockName)
	f, err := os.Create(name + "ing") // nobody looks for this name
	if err == nil {
		locks = append(locks, f) // not to be closed when it is collected
		if err = Lock(f); errors.Is(err, ErrNoLocks) {
			return dir, nil
		}
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	return dir, err
}

const lockName = "lock"

// locks are open as long as this process lives.
var locks []*os.File
