package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
	"eccbench/internal/regular"
)

// storeParam is the parameter with the folder of a stored image.
func storeParam() Param {
	return Param{"path", "",
		"folder of the file that Store wrote: the voxels are read from it; comes last and may hold slashes"}
}

// storeFile returns the path of a generated image in its folder: the name without the folder, with
// commas for slashes.
func (r resolved) storeFile() string {
	n := Name{Generator: r.generator.Name}
	for _, p := range r.canonical {
		if p.Key != "path" {
			n.given = append(n.given, p)
		}
	}
	return filepath.Join(r.store, strings.ReplaceAll(n.String(), "/", ",")+".raw")
}

// Store writes the image of a name with path=FOLDER to its file there, raw in the host's byte
// order. It returns the number of bytes written, 0 if a file of the right size exists. An
// interrupted write leaves a file of another name.
func Store(name string) (written int64, err error) {
	n, err := split(name)
	if err != nil {
		return 0, err
	}
	r, err := resolve(n)
	if err != nil {
		return 0, err
	}
	if r.store == "" {
		return 0, fmt.Errorf("%s: names no folder to store it in: want path=FOLDER as the last key", name)
	}
	path := r.storeFile()
	s, err := r.generate()
	if err != nil {
		return 0, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() == grid.TotalBytes(s) {
		return 0, nil
	}
	f, err := regular.Create(path)
	if err == nil {
		defer f.Drop() // if it is not committed
		err = grid.EachSlab(s, func(slab []byte, _, _ int64) error {
			k, err := f.Write(slab)
			written += int64(k)
			return err
		})
	}
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		return written, fmt.Errorf("storing an image in %s: %w", r.store, storage.Cause(err))
	}
	return written, nil
}

// StoredFile returns the file of a stored image, "" for any other input.
func StoredFile(name string) string {
	n, err := split(name)
	if err != nil {
		return ""
	}
	r, err := resolve(n)
	if err != nil || r.store == "" {
		return ""
	}
	return r.storeFile()
}

// Files returns the files of an input; none for a generated one.
func Files(name string) []string {
	n, err := split(name)
	if err != nil {
		return nil
	}
	return n.Files()
}

// Files returns the files of the image; none for a generated one.
func (n Name) Files() []string {
	switch r, err := resolve(n); {
	case err != nil:
		return nil
	case r.store != "":
		return []string{r.storeFile()}
	case r.files != nil:
		return r.files()
	}
	return nil
}

// Geometry returns the position of the voxels in space; nil for a generated image, a stack, and a file without a
// position.
func (n Name) Geometry() (*format.Geometry, error) {
	r, err := resolve(n)
	if err != nil || r.geometry == nil {
		return nil, err
	}
	return r.geometry()
}

// A stored source is a generated image whose voxels are read from a file.
type stored struct {
	grid.Source // shape, type and ladder
	file        *os.File
}

// openStored opens the file of an image, and compares its first, middle and last slices with
// generated ones.
func openStored(path string, made grid.Source) (grid.Source, error) {
	f, _, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; want %d bytes, which eccbench paper --store writes", path,
			grid.TotalBytes(made))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, storage.Cause(err))
	}
	s := &stored{made, f}
	if err := s.check(); err != nil {
		f.Close() // only read from
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func (s *stored) check() error {
	info, err := s.file.Stat()
	if err != nil {
		return storage.Cause(err)
	}
	if want := grid.TotalBytes(s.Source); info.Size() != want {
		return fmt.Errorf("has %d bytes, want %d for %v of %v; delete it and store it again", info.Size(), want, s.Shape(),
			s.Type())
	}
	n := s.Shape().Slices()
	want, got := grid.NewBuffer(grid.SliceBytes(s)), grid.NewBuffer(grid.SliceBytes(s))
	for _, i := range []int64{0, n / 2, n - 1} {
		if err := s.Source.ReadSlab(want, i, i+1); err != nil {
			return err
		}
		if err := s.ReadSlab(got, i, i+1); err != nil {
			return err
		}
		if !bytes.Equal(want, got) {
			return fmt.Errorf("slice %d is not that of the image it is named for; delete it and store it again", i)
		}
	}
	return nil
}

// ReadSlab reads slices lo ≤ i < hi from the file to dst.
func (s *stored) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	if err := storage.ReadAt(s.file, dst, lo*grid.SliceBytes(s)); err != nil {
		return fmt.Errorf("%s: reading %v: %w", s.file.Name(), grid.Span{Lo: lo, Hi: hi}, storage.Cause(err))
	}
	return nil
}

// Cool evicts the file from the host's page cache, and reports whether it did.
func (s *stored) Cool() (cold bool, err error) { return storage.DropPages(s.file) }

// Close closes the file.
func (s *stored) Close() error { return s.file.Close() }
