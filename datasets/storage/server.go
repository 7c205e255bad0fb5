package storage

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
)

// A Network reads objects from servers by their URLs. A missing object is a fs.ErrNotExist.
type Network interface {
	// Stat returns the size of an object and a version that identifies its contents.
	Stat(url string) (size int64, version string, err error)
	// Get appends an object of at most most bytes to buf[:0] and returns its FileInfo. It fails
	// with ErrChanged if the object differs from was; the zero FileInfo matches any object.
	Get(url string, most int64, buf []byte, was FileInfo) ([]byte, FileInfo, error)
	// Range fills dst from an offset of an object, or from its end if the offset is negative.
	// Otherwise it is like Get.
	Range(url string, dst []byte, at int64, was FileInfo) (FileInfo, error)
}

// ErrChanged is the error of a file or an object that has changed since it was opened.
var ErrChanged = errors.New("it changed while it was read; leave it as it is meanwhile, and run the command again")

// An ObjectError is a permanent reason why an object cannot be read.
type ObjectError struct{ Why string }

// RemoteReaders is the number of ranges or objects that are read from a server at the same time.
const RemoteReaders = 32

// Servers reads URLs; nil in a program that reads none.
var Servers Network

// ErrForbidden is the error of an object that the server denies. Some deny missing objects, too.
var ErrForbidden = errors.New("forbidden")

// ErrNoObject is the error of a missing object, an fs.ErrNotExist.
var ErrNoObject error = noObject{}

type noObject struct{}

func (noObject) Error() string        { return "no such object; check the URL" }
func (noObject) Is(target error) bool { return target == fs.ErrNotExist }

// IsURL reports whether a path is the URL of an object.
func IsURL(path string) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(path), "://")
	return ok && (scheme == "s3" || scheme == "http" || scheme == "https")
}

// CutS3 returns the bucket and the key of s3://bucket/key. A key is taken as it is written: # ? and
// % are characters of it.
func CutS3(path string) (bucket, key string, ok bool) {
	const scheme = "s3://"
	if len(path) < len(scheme) || !strings.EqualFold(path[:len(scheme)], scheme) {
		return "", "", false
	}
	bucket, key, _ = strings.Cut(path[len(scheme):], "/")
	return bucket, key, true
}

// ErrNoNetwork is the error of programs that read no URLs.
var ErrNoNetwork = ObjectError{"it is a URL, which this program does not read; use the command eccbench, or download " +
	"it"}

// An Object is an object that is read by ranges. Short ranges are read in blocks; the last block
// is cached.
type Object struct {
	url  string
	Info FileInfo

	mu    sync.Mutex
	block []byte
	at    int64 // of the block
}

// remoteBlock is the size of a block. remotePiece is the size of a range in a long read.
const remoteBlock, remotePiece = 1 << 20, 4 << 20

func openRemote(url string) (*Object, error) {
	if Servers == nil {
		return nil, ErrNoNetwork
	}
	size, version, err := Servers.Stat(url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoObject
	}
	if err != nil {
		return nil, err
	}
	return &Object{url: url, Info: FileInfo{Size: size, Version: version}}, nil
}

// Name returns the URL.
func (r *Object) Name() string { return r.url }

// Close does nothing: each range is a separate request.
func (r *Object) Close() error { return nil }

// A serverError is the error of a read from a server.
type serverError struct{ error }

func (e serverError) Unwrap() error { return e.error }

// ReadAt requests a range, or reads it from a block that was requested before.
func (r *Object) ReadAt(dst []byte, at int64) (n int, err error) {
	n = int(min(int64(len(dst)), max(0, r.Info.Size-at)))
	if n >= remoteBlock/4 {
		_, err = Servers.Range(r.url, dst[:n], at, r.Info)
	} else {
		err = r.fromBlocks(dst[:n], at)
	}
	if err != nil {
		return 0, serverError{err}
	}
	if n < len(dst) {
		return n, io.EOF
	}
	return n, nil
}

func (r *Object) fromBlocks(dst []byte, at int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(dst) > 0 {
		if start := at / remoteBlock * remoteBlock; r.block == nil || r.at != start {
			block := make([]byte, min(remoteBlock, r.Info.Size-start))
			if _, err := Servers.Range(r.url, block, start, r.Info); err != nil {
				return err
			}
			r.block, r.at = block, start
		}
		n := copy(dst, r.block[at-r.at:])
		dst, at = dst[n:], at+int64(n)
	}
	return nil
}

// A FileInfo describes a file or an object without reading it.
type FileInfo struct {
	Size    int64
	Version string // identifies the contents
	Folder  bool   // but no Zarr hierarchy
}

func (e ObjectError) Error() string { return e.Why }
