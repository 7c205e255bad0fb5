package simplicial

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"

	images "eccbench/datasets/files"
	"eccbench/datasets/storage"
	"eccbench/internal/simplicial/files"
)

// ReadFile reads a complex from a file of any supported format, which may be compressed as a whole.
func ReadFile(path string) (*Complex, error) {
	wrong := func(err error) (*Complex, error) {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			path, err = pe.Path, pe.Err
		}
		return nil, fmt.Errorf("input %s: %w", path, err)
	}
	read := func(data []byte) (*Complex, error) {
		data, inner, err := images.Unwrap(path, data)
		if err != nil {
			return nil, err
		}
		ext := strings.ToLower(filepath.Ext(inner))
		if inner != path && (ext == ".ele" || ext == ".node") {
			return nil, errors.New("compressed files of TetGen are not read; decompress the .ele and the .node file")
		}
		return read(data, ext)
	}
	first := path
	if ext := filepath.Ext(path); ext == ".ele" || ext == ".node" {
		base := path[:len(path)-len(ext)]
		first = base + ".ele"
		read = func(elements []byte) (*Complex, error) {
			nodes, err := storage.ReadFile(base + ".node")
			if err != nil {
				return nil, err
			}
			return readTetGen(elements, nodes)
		}
	}
	data, err := storage.ReadFile(first)
	if err != nil {
		return wrong(err)
	}
	c, err := read(data)
	if err == nil && c.Dim() < 0 {
		err = errors.New("the file has no simplices; check the file")
	}
	if err != nil {
		return wrong(err)
	}
	return c, nil
}

// companionFiles returns the files that are read together with a file.
func companionFiles(path string) []string {
	base, ext := strings.TrimSuffix(path, filepath.Ext(path)), filepath.Ext(path)
	switch ext {
	case ".ele":
		return []string{base + ".node"}
	case ".node":
		return []string{base + ".ele"}
	}
	return nil
}

// read reads a complex from a file whose name ends in ext.
func read(data []byte, ext string) (*Complex, error) {
	if bytes.HasPrefix(data, []byte(magic)) {
		return ReadNative(data, false)
	}
	return finished(files.Read(data, ext))
}

func readTetGen(elements, nodes []byte) (*Complex, error) {
	return finished(files.ReadTetGen(elements, nodes))
}

// finished converts a mesh to a checked complex, without the given simplices that are faces of
// others.
func finished(m *files.Mesh, err error) (*Complex, error) {
	if err != nil {
		return nil, err
	}
	c := &Complex{Tops: m.Tops, Vertices: m.Vertices, Points: m.Points, centres: m.Centres}
	c.trim()
	if err := boundedVertices(c); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	lower := 0
	for d := range c.Dim() {
		lower += len(c.Tops[d])
	}
	if lower == 0 {
		return c, nil
	}
	f := NewFaces(c, runtime.GOMAXPROCS(0))
	c.counts = f.Counts()
	for d := range c.Dim() {
		covered := make([]bool, f.Count(d))
		for _, face := range f.Boundary[d+1] {
			covered[face] = true
		}
		c.Tops[d] = c.Tops[d][:0]
		for i, inside := range covered {
			if !inside {
				c.Tops[d] = append(c.Tops[d], f.Vertices[d][i*(d+1):(i+1)*(d+1)]...)
			}
		}
	}
	return c, nil
}
