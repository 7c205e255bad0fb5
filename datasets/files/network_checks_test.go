package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/datasets/zarr"
	"eccbench/internal/grid"
)

// A memoryServer has objects of one version in memory, and records the requested ranges.
type memoryServer struct {
	objects map[string][]byte
	version string
	broken  map[string]bool // URLs whose requests fail

	mu     sync.Mutex
	ranges []string
}

var errServer = errors.New("the server is on fire")

func (s *memoryServer) at(url string) ([]byte, error) {
	data, ok := s.objects[url]
	switch {
	case s.broken[url]:
		return nil, errServer
	case !ok:
		return nil, fmt.Errorf("%s: %w", url, fs.ErrNotExist)
	}
	return data, nil
}

func (s *memoryServer) Stat(url string) (int64, string, error) {
	data, err := s.at(url)
	return int64(len(data)), s.version, err
}

func (s *memoryServer) Get(url string, most int64, buf []byte, was storage.FileInfo) ([]byte, storage.FileInfo, error) {
	data, err := s.at(url)
	if err == nil && int64(len(data)) > most {
		err = errServer
	}
	return append(buf[:0], data...), was, err
}

func (s *memoryServer) Range(url string, dst []byte, at int64, was storage.FileInfo) (storage.FileInfo, error) {
	data, err := s.at(url)
	if err != nil {
		return was, err
	}
	if at < 0 {
		at += int64(len(data))
	}
	if was.Version != "" && was.Version != s.version || at < 0 || at+int64(len(dst)) > int64(len(data)) {
		return was, errServer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranges = append(s.ranges, fmt.Sprintf("%d+%d", at, len(dst)))
	copy(dst, data[at:])
	return was, nil
}

// through sets the network until the returned function is called.
func through(n storage.Network) (back func()) {
	before := storage.Servers
	storage.Servers = n
	return func() { storage.Servers = before }
}

// An object is read like a file, with blocks for short reads. Errors of the server are passed on.
func readsObjects(t *testing.T) {
	for path, want := range map[string]bool{"s3://a/b": true, "http://a": true, "https://a/b.raw": true, "HTTP://a": true, "S3://a/b": true, "ftp://a": false, "https:/a": false, "https": false, "": false} {
		if storage.IsURL(path) != want {
			t.Errorf("%q is a URL: %v", path, !want)
		}
	}
	const url = "https://there/"
	const blockBytes = 1 << 20 // of an object that are read at once
	server := &memoryServer{objects: map[string][]byte{}, version: "7", broken: map[string]bool{}}
	defer through(server)()
	long := make([]byte, 2*blockBytes+1000)
	for i := range long {
		long[i] = byte(i>>12 ^ i)
	}
	server.objects[url+"long"] = long
	set := &storage.Set{}
	file, _, err := set.Open(url + "long")
	if err != nil || file.Name() != url+"long" || file.Close() != nil {
		t.Fatalf("%v: %v", file, err)
	}
	size := int64(len(long))
	for _, n := range []int64{0, 1, 99, blockBytes/4 - 1, blockBytes / 4, blockBytes + 2} {
		for _, at := range []int64{0, 1, blockBytes - 1, blockBytes, size - 1000, size - 99, size - 1, size, size + 5} {
			got := make([]byte, n)
			want := long[min(at, size):min(at+n, size)]
			k, err := file.ReadAt(got, at)
			if !bytes.Equal(got[:k], want) || (err == nil) != (int64(k) == n) || err != nil && err != io.EOF {
				t.Fatalf("%d bytes at %d: %d are read (%v)", n, at, k, err)
			}
		}
	}
	server.ranges = nil
	for _, r := range [][2]int64{{5, 9}, {100, 9}, {blockBytes - 1, 2}, {blockBytes + 7, 9}, {3, blockBytes / 2}, {blockBytes - 4, 4}} {
		if _, err := file.ReadAt(make([]byte, r[1]), r[0]); err != nil {
			t.Error(err)
		}
	}
	if want := []string{fmt.Sprintf("0+%d", blockBytes), fmt.Sprintf("%d+%[1]d", blockBytes), fmt.Sprintf("3+%d", blockBytes/2), fmt.Sprintf("0+%d", blockBytes)}; !slices.Equal(server.ranges, want) {
		t.Errorf("the server is asked for %v, want %v", server.ranges, want)
	}
	if all := make([]byte, size); storage.ReadAt(file, all, 0) != nil || !bytes.Equal(all, long) {
		t.Error("an object that is read whole is another one")
	}
	server.version = "8"
	for _, n := range []int64{9, blockBytes} {
		if k, err := file.ReadAt(make([]byte, n), blockBytes); k != 0 || !errors.Is(err, errServer) {
			t.Errorf("%d bytes of another version are read (%v)", k, err)
		}
	}

	raw := format.Options{Shape: grid.Shape{D: 1, H: 3, W: 2}, Type: grid.Uint8, Stream: true}
	server.objects[url+"a.raw"] = []byte("abcdef")
	s, err := Open(url+"a.raw", raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := slabsDiffer(s, []byte("abcdef")); diff != "" || !grid.InBulk(s) {
		t.Errorf("in bulk %v, %s", grid.InBulk(s), diff)
	}
	if cold, err := s.(*format.Stream).Cool(); cold || err != nil {
		t.Errorf("what a server has in memory is known to be cold (%v)", err)
	}
	if err := grid.Close(s); err != nil {
		t.Error(err)
	}
	set.Files = nil
	identity := func() string {
		defer func() { set.Files = nil }()
		set.Open(url + "a.raw")
		return set.Identity()
	}
	is := identity()
	server.version = "9"
	if other := identity(); is == "" || is == other || other != identity() {
		t.Errorf("objects %q and %q", is, other)
	}
	if info, err := Stat(url + "a.raw"); err != nil || info != (storage.FileInfo{Size: 6, Version: "9"}) {
		t.Errorf("%v (%v)", info, err)
	}
	if server.version = ""; identity() != "" {
		t.Error("an object of no version is known by itself")
	}
	server.objects[url+"a.nhdr"] = []byte("NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 3\nencoding: raw\ndata file: a.raw\n\n")
	_, err = Open(url+"a.nhdr", format.Options{})
	checkFileError(t, "a header's data", err, "in another object")
	server.broken[url+"broken.raw"] = true
	for name, want := range map[string]string{"none.raw": "no such object; check the URL", "broken.raw": errServer.Error()} {
		_, err := Open(url+name, raw)
		checkFileError(t, name, err, want)
		_, err = Stat(url + name)
		checkFileError(t, name, err, want)
	}
	server.broken[url+"private.zarr/zarr.json"] = true
	_, err = Stat(url + "private.zarr")
	checkFileError(t, "private.zarr", err, errServer.Error())
	through(nil)
	for _, name := range []string{url + "a.raw", url + "a.zarr"} {
		_, opening := Open(name, raw)
		_, looking := Stat(name)
		if !errors.Is(opening, storage.ErrNoNetwork) || !errors.Is(looking, storage.ErrNoNetwork) || IsZarr(name) {
			t.Errorf("without a network: %v, %v", opening, looking)
		}
	}
}

// A Zarr hierarchy on a server equals one in a folder.
func readsRemoteZarr(t *testing.T) {
	const url = "s3://there/of/"
	server := &memoryServer{objects: map[string][]byte{url + "a.raw/zarr.json": {'{', '}'}, url + "a.png/zarr.json": {'{', '}'}}, version: "7", broken: map[string]bool{}}
	defer through(server)()
	names := map[string]bool{"u8_raw_v2": true, "u16_missing_v2": true, "u16_shards_missing_v3": true, "channels_05": true}
	files := zarrFixtureFiles(t)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		name, _, _ := strings.Cut(path, ".zarr/")
		if err == nil && !d.IsDir() && names[name] {
			server.objects[url+path], err = fs.ReadFile(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range zarrFixtures() {
		if !names[f.name] || strings.Contains(f.options, "labels") && !strings.Contains(f.options, "cells") {
			continue
		}
		for _, end := range []string{".zarr", ".zarr/"} {
			s, err := Named.Open("file" + f.options + "/path=" + url + f.name + end)
			if err != nil {
				t.Fatal(err)
			}
			checkFileImage(t, s, f.shape, f.typ, f.value)
			if !IsZarr(url+f.name+end) || !grid.InBulk(s) || grid.Step(s) < 1 || grid.CachedBytes(s) == 0 {
				t.Errorf("%s: in bulk %v, by %d slices of %d bytes", f.name, grid.InBulk(s), grid.Step(s), grid.CachedBytes(s))
			}
			if info, err := Stat(url + f.name + end); err != nil || info != (storage.FileInfo{}) {
				t.Errorf("%s: %v (%v)", f.name, info, err)
			}
			if err := grid.Close(s); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range []string{"a.raw", "a.png", "none", "u8_raw_v2.zarr/.zarray"} {
		if IsZarr(url + name) {
			t.Errorf("%s is a Zarr hierarchy", name)
		}
	}
	set := &storage.Set{}
	o := zarr.Objects{URL: url + "u8_raw_v2.zarr/", Files: set}
	if o.Readers() != storage.RemoteReaders || o.List("") != nil {
		t.Errorf("%d at once, of %q", o.Readers(), o.List(""))
	}
	last := make([]byte, 4)
	whole, _, err := o.Whole(".zarray", 1<<20, nil)
	if err == nil {
		_, err = o.Part(".zarray", last, -4, storage.FileInfo{})
	}
	if err != nil || !bytes.HasSuffix(whole, last) || len(set.Files) != 1 {
		t.Errorf("%q ends with %q, of %d files (%v)", whole, last, len(set.Files), err)
	}
	server.broken[url+"u8_raw_v2.zarr/.zgroup"] = true
	for key, want := range map[string]error{"zarr.json": fs.ErrNotExist, "9.9.9": fs.ErrNotExist, ".zgroup": errServer} {
		if _, _, err := o.Whole(key, 1<<20, nil); !errors.Is(err, want) || err == nil {
			t.Errorf("%s: %v, want %v", key, err, want)
		}
	}
	if _, err := o.Part("9.9.9", last, 0, storage.FileInfo{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("part of nothing: %v", err)
	}
}

// The properties of a path are its size, its time of change, and whether it is a folder of images.
func statsPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.zarr", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, n := range map[string]int{"a.zarr/.zgroup": 2, "b/x": 5} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]storage.FileInfo{"a.zarr": {}, "b": {Folder: true}, "b/x": {Size: 5}} {
		info, err := Stat(filepath.Join(dir, name))
		if err != nil || info.Folder != want.Folder || want.Size > 0 && info.Size != want.Size || info.Version == "" {
			t.Errorf("%s: %v, want %v (%v)", name, info, want, err)
		}
	}
	if _, err := Stat(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("nothing there: %v", err)
	}
}

// A part of a file in a folder has the existing bytes, also relative to its end. A missing file is
// fs.ErrNotExist, as a chunk may be.
func readsFolders(t *testing.T) {
	dir := t.TempDir()
	f := zarr.Folder(dir)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("0123456789"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "b", "c"), 0o777); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[int64]string{0: "0123", 6: "6789", 7: "", -4: "6789", -3: "", -10: "0123", -11: ""} {
		got := make([]byte, 4)
		if _, err := f.Part("a", got, at, storage.FileInfo{}); (err == nil) != (want != "") || err == nil && string(got) != want {
			t.Errorf("4 bytes at %d: %q, %v; want %q", at, got, err, want)
		}
	}
	for most := range int64(12) {
		if got, _, err := f.Whole("a", most, []byte("before")); (err == nil) != (most >= 10) || err == nil && string(got) != "0123456789" {
			t.Errorf("of at most %d bytes: %q, %v", most, got, err)
		}
	}
	for key, missing := range map[string]bool{"none": true, "b": false} {
		_, _, whole := f.Whole(key, 10, nil)
		_, part := f.Part(key, make([]byte, 0), 0, storage.FileInfo{})
		if whole == nil || part == nil || errors.Is(whole, fs.ErrNotExist) != missing || errors.Is(part, fs.ErrNotExist) != missing {
			t.Errorf("%s: %v, %v", key, whole, part)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "b", "c", ".zarray"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][]string{"": nil, "b": {"c"}, "none": nil} {
		if got := f.List(key); !slices.Equal(got, want) {
			t.Errorf("arrays in %q: %q, want %q", key, got, want)
		}
	}
}
