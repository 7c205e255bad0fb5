package files

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// describeSlices reads the headers of all slices if the header of the first has a position or a
// scale. Otherwise it returns nil. It decodes only slices whose headers are compressed.
func describeSlices(files []string, o format.Options) ([]*format.Body, error) {
	bodies := make([]*format.Body, len(files))
	look := func(k int64) error {
		b, err := describeHeader(files[k], o)
		if err == nil {
			bodies[k], b.In, b.Inflate, b.Decoded = b, format.Input{}, nil, nil // the voxels are not read later
		}
		return err
	}
	if o.Typed() || look(0) != nil || bodies[0].Place == nil && !bodies[0].Scaled { // a later read reports the error
		return nil, nil
	}
	return bodies, eachSlice(int64(len(files)-1), func(k int64) error {
		err := look(k + 1)
		if err == nil {
			err = bodies[k+1].CheckLike(bodies[0])
		}
		return sliceError(files[k+1], err)
	})
}

// sliceError adds the path of a slice's file to an error.
func sliceError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("slice %w", &format.ReadError{Path: path, Err: err})
}

// sortSlices sorts the files of slices by the positions in their headers, if the first has one.
func sortSlices(files []string, bodies []*format.Body) error {
	if len(bodies) == 0 || bodies[0].Place == nil {
		return nil
	}
	const advice = "name the files of one volume, by a folder or a pattern, or convert them: " +
		"dcm2niix -z y FOLDER makes a file of each volume"
	places := make([]*format.Place, len(bodies))
	for i, b := range bodies {
		places[i] = b.Place
	}
	name := func(i int) string { return files[i] }
	order, err := format.OrderPlaces(places, name, advice)
	if err == nil {
		err = format.CheckSpacing(places, order, name, advice)
	}
	if err != nil {
		return fmt.Errorf("slice %w", err)
	}
	unordered, headers := slices.Clone(files), slices.Clone(bodies)
	for i, k := range order {
		files[i], bodies[i] = unordered[k], headers[k]
	}
	return nil
}

// StackFiles returns the files of a stack's slices.
func StackFiles(path string, o format.Options) (files []string) {
	slices, _, err := sliceFiles(path, o)
	if err != nil {
		return nil
	}
	return slicesFiles(slices, o)
}

// OpenStack opens a volume with one 2D image per slice. path is a folder, or a pattern of file names. With
// o.Stream, slices are read on demand if possible.
func OpenStack(path string, o format.Options) (grid.Source, error) {
	s, err := openStack(path, o)
	if errors.As(err, &format.NotStreamed{}) {
		o.Stream = false
		s, err = openStack(path, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// openStack reads all slices into memory on all cores, or returns a source that reads them on
// demand.
func openStack(path string, o format.Options) (grid.Source, error) {
	files, others, err := sliceFiles(path, o)
	if err != nil {
		return nil, err
	}
	versions := map[string]storage.FileInfo{}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil { // a later read reports the error
			versions[f] = storage.VersionOf(info)
		}
	}
	bodies, err := describeSlices(files, o)
	if err == nil {
		err = sortSlices(files, bodies)
	}
	if err != nil {
		return nil, err
	}
	stream := o.Stream
	o.Stream = false // slices are read whole
	reader := &sliceReader{files: files, o: o, versions: versions}
	first, data, err := reader.read(0)
	if err == nil && first.Shape.D > 1 {
		err = fmt.Errorf("a volume of %v; want images of two axes", first.Shape)
	}
	if err != nil {
		return nil, sliceError(files[0], err)
	}
	whole := *first
	if whole.Shape, err = format.ShapeOf([]int64{int64(len(files)), first.Shape.H, first.Shape.W}); err != nil {
		return nil, err
	}
	scales := make([]format.Scale, len(files))
	for k := range scales {
		scales[k] = first.Scale()
		if bodies != nil {
			scales[k] = bodies[k].Scale()
		}
	}
	whole.SetScales(scales)
	skipped := describeSkipped(others, files, o)
	if stream {
		return streamStack(reader, first, &whole, skipped)
	}
	s, err := readSlices(reader, first, data, &whole, scales)
	if f, ok := s.(*grid.Field); ok && err == nil {
		return f.Volume().Lacking(skipped), nil
	}
	return s, err
}

// readSlices reads all slices into memory.
func readSlices(reader *sliceReader, first *format.Body, data []byte, whole *format.Body, scales []format.Scale) (
	grid.Source, error) {
	files := reader.files
	identities := make([]string, len(files))
	identities[0] = first.In.Identity
	if err := whole.CheckMemory(whole.In); err != nil {
		return nil, err
	}
	whole.Decoded = grid.NewBuffer(whole.Bytes())
	copy(whole.Decoded, data)
	err := eachSlice(int64(len(files)-1), func(k int64) error {
		s, data, err := reader.read(k + 1)
		if err == nil {
			err = s.CheckLike(first)
		}
		if err == nil {
			err = s.ScaledBy(scales[k+1])
		}
		if err != nil {
			return sliceError(files[k+1], err)
		}
		identities[k+1] = s.In.Identity
		copy(whole.Decoded[(k+1)*first.Bytes():], data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	whole.In.Identity = strings.Join(identities, "")
	return whole.Source()
}

// streamStack returns a source of slices that have the properties of the first.
func streamStack(reader *sliceReader, first, whole *format.Body, skipped string) (grid.Source, error) {
	o := reader.o
	switch typ := whole.Native(); {
	case whole.Shape.D == 1:
		return nil, format.NotStreamed{Reason: "it is one slice"}
	case whole.Ranked():
		return nil, format.NotStreamed{Reason: fmt.Sprintf("its voxels of %s become float32, or ranks", first.Stored)}
	case typ == grid.Float32 && !o.Every:
		return nil, format.NotStreamed{Reason: "its levels are to be found first"}
	case typ != grid.Float32 && o.Levels > 0:
		return nil, format.NotStreamed{Reason: "a number of levels is for float32 images"} // a later read reports the error
	}
	return &stackStream{reader, first, whole.Shape, skipped}, nil
}

// A stackStream reads its slices from separate files on demand.
type stackStream struct {
	*sliceReader
	first   *format.Body
	shape   grid.Shape
	skipped string // the skipped files of the folder, "" for none
}

// Shape returns the volume's shape.
func (s *stackStream) Shape() grid.Shape { return s.shape }

// Missing describes the skipped files of the folder; "" for none.
func (s *stackStream) Missing() string { return s.skipped }

// Type returns the volume's element type.
func (s *stackStream) Type() grid.Type { return s.first.Native() }

// Ladder returns the levels of answers about the volume.
func (s *stackStream) Ladder() grid.Ladder { return grid.Identity(s.Type()) }

// ReadSlab reads slices lo ≤ i < hi from their files to dst. An error in a file is a *ReadError.
func (s *stackStream) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	size := int64(len(dst)) / (hi - lo)
	return eachSlice(hi-lo, func(k int64) error {
		slice, err := s.slice(lo + k)
		if err != nil {
			return sliceError(s.files[lo+k], err)
		}
		copy(dst[k*size:(k+1)*size], slice)
		return nil
	})
}

// eachSlice calls read with each of n slices, on all cores.
func eachSlice(n int64, read func(k int64) error) error {
	return crew.Try(runtime.GOMAXPROCS(0), int(n), func(_, k int) error { return read(int64(k)) })
}

// slice returns the voxels of a file.
func (s *stackStream) slice(i int64) ([]byte, error) {
	b, data, err := s.read(i)
	if err == nil {
		err = b.CheckLike(s.first)
	}
	if err == nil {
		err = b.ScaledBy(s.first.Scale())
	}
	if err != nil {
		return nil, err
	}
	data, _, err = b.Convert(data)
	if err == nil && s.Type() == grid.Float32 {
		err = s.o.Normalise()(grid.Values[float32](data), i*s.shape.SliceVoxels(), s.shape)
	}
	return data, err
}

// A sliceReader reads the slices of a stack. It returns an error if a file changes.
type sliceReader struct {
	files []string
	o     format.Options

	mu       sync.Mutex
	versions map[string]storage.FileInfo // of all files that were opened
}

// checkUnchanged returns an error if one of the files has changed since it was opened first.
func (r *sliceReader) checkUnchanged(files *storage.Set) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for f, is := range files.Was {
		if was, seen := r.versions[f.Name()]; seen && was != is {
			return storage.ErrChanged
		}
		r.versions[f.Name()] = is
	}
	return nil
}

// read reads the stored voxels of a slice and closes its files.
func (r *sliceReader) read(i int64) (b *format.Body, data []byte, err error) {
	files := &storage.Set{}
	defer func() {
		if err = cmp.Or(r.checkUnchanged(files), files.Blame(err)); err != nil {
			b, data = nil, nil
		}
		if cerr := files.Close(); err == nil {
			err = cerr
		}
	}()
	if b, err = describePath(files, r.files[i], r.o); err != nil {
		return nil, nil, err
	}
	if b.Fortran {
		return nil, nil, errors.New("its voxels are in Fortran order, which a slice's may not be; save it in C order")
	}
	b.In.Identity = files.Identity()
	data, err = b.Read()
	return b, data, err
}
