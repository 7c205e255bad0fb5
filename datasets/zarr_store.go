package datasets

import (
	"eccbench/internal/regular"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// objects is a store on a server.
type objects struct {
	url   string
	files *fileSet // the files of the metadata
}

func (o objects) at(key string) string { return strings.TrimRight(o.url, "/") + "/" + key }

func (o objects) whole(key string, most int64, buf []byte) ([]byte, FileInfo, error) {
	var was FileInfo
	if isMetadata(key) {
		f, _, err := o.files.open(o.at(key))
		if err != nil {
			if _, _, again := network.Stat(o.at(key)); errors.Is(again, fs.ErrNotExist) {
				return nil, was, fs.ErrNotExist
			}
			return nil, was, err
		}
		was = f.(*remoteFile).info
	}
	return network.Get(o.at(key), most, buf, was)
}

func (o objects) part(key string, dst []byte, at int64, was FileInfo) (FileInfo, error) {
	return network.Range(o.at(key), dst, at, was)
}

// stat returns nothing: a request takes as long as reading a chunk.
func (objects) stat(string) (info FileInfo, known bool) { return info, false }

// list returns nothing: HTTP servers have no lists.
func (objects) list(string) []string { return nil }

func (objects) atOnce() int64 { return RemoteReaders }

// zarrMarks are the metadata files of Zarr hierarchies. A folder has one of them. The first
// belongs to version 3, the others to an array and a group of version 2.
var zarrMarks = []string{"zarr.json", ".zarray", ".zgroup"}

// isZarrFolder reports whether a path is the folder of an array or a group.
func isZarrFolder(path string) bool {
	return slices.ContainsFunc(zarrMarks, func(mark string) bool {
		info, err := os.Stat(filepath.Join(path, mark))
		return err == nil && info.Mode().IsRegular()
	})
}

// isRemoteHierarchy reports whether a URL is that of an array or a group.
func isRemoteHierarchy(url string) bool {
	return slices.ContainsFunc(zarrMarks, func(mark string) bool {
		_, _, err := network.Stat(strings.TrimRight(url, "/") + "/" + mark)
		return err == nil
	})
}

// zarrMetadata is far above the size of the metadata of any hierarchy, including consolidated
// metadata.
const zarrMetadata = 64 << 20

// isMetadata reports whether an object is metadata, not a chunk.
func isMetadata(key string) bool {
	base := path.Base(key)
	return slices.Contains(zarrMarks, base) || base == ".zattrs"
}

// metadata is a folder whose metadata are opened as files of a set.
type metadata struct {
	folder
	files *fileSet
}

func (m *metadata) whole(key string, most int64, buf []byte) ([]byte, FileInfo, error) {
	if isMetadata(key) {
		file, is, err := m.folder.open(key)
		if err != nil {
			return nil, is, err
		}
		m.files.add(file, is)
	}
	return m.folder.whole(key, most, buf)
}

// A store holds the objects of a Zarr hierarchy, which have paths as names. A missing object is a
// fs.ErrNotExist.
type store interface {
	// whole appends an object to buf[:0] and returns its FileInfo. It fails for an object of more
	// than most bytes, and for one that changes during the read.
	whole(key string, most int64, buf []byte) ([]byte, FileInfo, error)
	// part fills dst from an offset of an object, or from its end if the offset is negative. It
	// fails with ErrChanged if the object differs from was; the zero FileInfo matches any object.
	part(key string, dst []byte, at int64, was FileInfo) (FileInfo, error)
	// stat returns the FileInfo of an object if it is cheap; the zero FileInfo means none.
	stat(key string) (info FileInfo, known bool)
	// list returns the names of the arrays and groups in a group, if the store knows them.
	list(key string) []string
	// atOnce returns the best number of objects to read at the same time.
	atOnce() int64
}

// A folder is a store on the local disk.
type folder string

func (f folder) path(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

func (f folder) open(key string) (file *os.File, is FileInfo, err error) {
	file, info, err := regular.Open(f.path(key))
	if err != nil {
		return nil, is, err
	}
	return file, versionOf(info), nil
}

// closeSame closes a file, and returns an error if it has changed.
func closeSame(file *os.File, was FileInfo, err error) error {
	set := fileSet{was: map[*os.File]FileInfo{file: was}}
	err = set.blame(err)
	file.Close() // only read from
	return err
}

func (f folder) whole(key string, most int64, buf []byte) (data []byte, is FileInfo, err error) {
	file, is, err := f.open(key)
	if err != nil {
		return nil, is, err
	}
	defer func() { err = closeSame(file, is, err) }()
	if is.Size > most {
		return nil, is, fmt.Errorf("%d bytes, more than the %d that it can have", is.Size, most)
	}
	buf = extend(buf[:0], is.Size, is.Size)
	_, err = io.ReadFull(file, buf)
	return buf, is, err
}

func (f folder) part(key string, dst []byte, at int64, was FileInfo) (is FileInfo, err error) {
	file, is, err := f.open(key)
	if err != nil {
		return is, err
	}
	if was == (FileInfo{}) {
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

func (f folder) stat(key string) (is FileInfo, known bool) {
	if info, err := os.Stat(f.path(key)); err == nil {
		is = versionOf(info)
	}
	return is, true
}

func (f folder) list(key string) []string {
	entries, err := os.ReadDir(f.path(key))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if isZarrFolder(filepath.Join(f.path(key), e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}

func (folder) atOnce() int64 { return int64(runtime.GOMAXPROCS(0)) }
