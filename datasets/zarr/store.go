package zarr

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"eccbench/datasets/storage"
	"eccbench/internal/regular"
)

// Objects is a store on a server.
type Objects struct {
	URL   string
	Files *storage.Set // the files of the metadata
}

// url returns the URL of an object: its key as it is in S3, else percent-encoded.
func (o Objects) url(key string) string {
	if _, _, is := storage.CutS3(o.URL); !is {
		key = (&url.URL{Path: key}).EscapedPath()
	}
	return strings.TrimRight(o.URL, "/") + "/" + key
}

// Whole requests an object. Metadata must not have changed since it was opened.
func (o Objects) Whole(key string, most int64, buf []byte) ([]byte, storage.FileInfo, error) {
	var was storage.FileInfo
	if IsMetadata(key) {
		f, _, err := o.Files.Open(o.url(key))
		if err != nil {
			return nil, was, err
		}
		was = f.(*storage.Object).Info
	}
	return storage.Servers.Get(o.url(key), most, buf, was)
}

// Part requests a range of an object.
func (o Objects) Part(key string, dst []byte, at int64, was storage.FileInfo) (storage.FileInfo, error) {
	return storage.Servers.Range(o.url(key), dst, at, was)
}

// Stat returns nothing: a request takes as long as reading a chunk.
func (Objects) Stat(string) (info storage.FileInfo, known bool) { return info, false }

// List returns nothing: HTTP servers have no lists.
func (Objects) List(string) []string { return nil }

// Readers returns the number of requests at the same time.
func (Objects) Readers() int64 { return storage.RemoteReaders }

// marks are the metadata files of Zarr hierarchies. A folder has one of them. The first
// belongs to version 3, the others to an array and a group of version 2.
var marks = []string{"zarr.json", ".zarray", ".zgroup"}

// IsFolder reports whether a path is the folder of an array or a group.
func IsFolder(path string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool {
		info, err := os.Stat(filepath.Join(path, mark))
		return err == nil && info.Mode().IsRegular()
	})
}

// CheckRemote returns nil if a URL is that of an array or a group, an fs.ErrNotExist if it is not, and another error of
// the server if that leaves it open.
func CheckRemote(address string) error {
	result := fs.ErrNotExist
	for _, mark := range marks {
		_, _, err := storage.Servers.Stat(Objects{URL: address}.url(mark))
		if err == nil {
			return nil
		}
		if errors.Is(result, fs.ErrNotExist) {
			result = err
		}
	}
	return result
}

// mostMetadata is far above the size of the metadata of any hierarchy, including consolidated
// metadata.
const mostMetadata = 64 << 20

// IsMetadata reports whether an object is metadata, not a chunk.
func IsMetadata(key string) bool {
	base := path.Base(key)
	return slices.Contains(marks, base) || base == ".zattrs"
}

// Metadata is a folder whose metadata are opened as files of a set.
type Metadata struct {
	Folder
	Files *storage.Set
}

func (m *Metadata) Whole(key string, most int64, buf []byte) ([]byte, storage.FileInfo, error) {
	if IsMetadata(key) {
		file, is, err := m.Folder.open(key)
		if err != nil {
			return nil, is, err
		}
		m.Files.Add(file, is)
	}
	return m.Folder.Whole(key, most, buf)
}

// A Store holds the objects of a Zarr hierarchy, which have paths as names. A missing object is a
// fs.ErrNotExist.
type Store interface {
	// Whole appends an object to buf[:0] and returns its FileInfo. It fails for an object of more
	// than most bytes, and for one that changes during the read.
	Whole(key string, most int64, buf []byte) ([]byte, storage.FileInfo, error)
	// Part fills dst from an offset of an object, or from its end if the offset is negative. It
	// fails with ErrChanged if the object differs from was; the zero FileInfo matches any object.
	Part(key string, dst []byte, at int64, was storage.FileInfo) (storage.FileInfo, error)
	// Stat returns the FileInfo of an object if it is cheap; the zero FileInfo means none.
	Stat(key string) (info storage.FileInfo, known bool)
	// List returns the names of the arrays and groups in a group, if the store knows them.
	List(key string) []string
	// Readers returns the best number of objects to read at the same time.
	Readers() int64
}

// A Folder is a store on the local disk.
type Folder string

func (f Folder) path(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

func (f Folder) open(key string) (file *os.File, is storage.FileInfo, err error) {
	file, info, err := regular.Open(f.path(key))
	if err != nil {
		return nil, is, err
	}
	return file, storage.VersionOf(info), nil
}

// closeSame closes a file, and returns an error if it has changed.
func closeSame(file *os.File, was storage.FileInfo, err error) error {
	set := storage.Set{Was: map[*os.File]storage.FileInfo{file: was}}
	err = set.Blame(err)
	file.Close() // only read from
	return err
}

// Whole reads a file.
func (f Folder) Whole(key string, most int64, buf []byte) (data []byte, is storage.FileInfo, err error) {
	file, is, err := f.open(key)
	if err != nil {
		return nil, is, err
	}
	defer func() { err = closeSame(file, is, err) }()
	if is.Size > most {
		return nil, is, fmt.Errorf("%d bytes, more than the %d that it can have", is.Size, most)
	}
	buf = storage.Extend(buf[:0], is.Size, is.Size)
	_, err = io.ReadFull(file, buf)
	return buf, is, err
}

// Part reads a range of a file.
func (f Folder) Part(key string, dst []byte, at int64, was storage.FileInfo) (is storage.FileInfo, err error) {
	file, is, err := f.open(key)
	if err != nil {
		return is, err
	}
	if was == (storage.FileInfo{}) {
		was = is
	}
	defer func() { err = closeSame(file, was, err) }()
	if at < 0 {
		at += is.Size
	}
	if at < 0 {
		return is, fmt.Errorf("truncated: %d bytes, of which the last %d are wanted", is.Size, len(dst))
	}
	if at > is.Size-int64(len(dst)) {
		return is, fmt.Errorf("truncated: %d bytes at %d of %d", len(dst), at, is.Size)
	}
	_, err = file.ReadAt(dst, at)
	return is, err
}

// Stat describes a file.
func (f Folder) Stat(key string) (is storage.FileInfo, known bool) {
	if info, err := os.Stat(f.path(key)); err == nil {
		is = storage.VersionOf(info)
	}
	return is, true
}

// List names the arrays and groups in a folder.
func (f Folder) List(key string) []string {
	entries, err := os.ReadDir(f.path(key))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if IsFolder(filepath.Join(f.path(key), e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

func (Folder) Readers() int64 { return int64(runtime.GOMAXPROCS(0)) }
