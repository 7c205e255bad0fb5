package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eccbench/internal/grid"
)

func stackGenerator() generator {
	return generator{
		Generator: Generator{
			Name:      "stack",
			Doc:       "a volume of 2D images, a slice each, in the natural order of their names",
			Example:   "stack/path=/data/ct/*.tif",
			FromFiles: true,
			Params: []Param{
				{"shape", "what the files say", "raw files: voxels of a slice along x and y"},
				{"levels", "every value of an 8 or 16-bit type, every distinct value of float32", "float32: number of evenly spaced levels instead, or every: each finite value is one, which extrema counts"},
				{"type", "what the files say", "raw files: one that NumPy has, such as uint16 or float64"},
				{"stream", "false", "true or once: read slices when they are asked for, where a slice says by itself what its voxels are, in place of holding the volume in memory"},
				{"path", "", "the folder of the slices, or a pattern of their names; comes last and may hold slashes"},
			},
		},
		read: readStack,
	}
}

func readStack(r *reading) maker {
	o := r.fileOptions()
	o.Stream = r.choice("stream", "true", "once") != ""
	path := r.place("a folder or a pattern")
	r.files = func() []string {
		slices, err := sliceFiles(path, o)
		if err != nil {
			return nil
		}
		var files []string
		for _, s := range slices {
			files = append(files, filesOf(s, o)...)
		}
		return files
	}
	return func() (grid.Source, error) {
		o := o
		o.Surveys, o.Memory = r.surveys, r.memory
		s, err := openStack(path, o)
		if errors.As(err, &notStreamed{}) {
			o.Stream = false
			s, err = openStack(path, o)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return s, nil
	}
}

// sliceFiles are the files of a stack: the images in a folder, or what a pattern matches.
func sliceFiles(path string, o FileOptions) ([]string, error) {
	info, err := os.Stat(path)
	var files []string
	switch {
	case err == nil && info.IsDir():
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, pathCause(err)
		}
		for _, e := range entries {
			name := filepath.Join(path, e.Name())
			if raw := o.typed() && slices.Contains(fileFormats()[0].extensions, strings.ToLower(filepath.Ext(name))); !e.IsDir() && (raw || IsImage(name)) {
				files = append(files, name)
			}
		}
		if len(files) == 0 { // those of a scanner may have no endings
			for _, e := range entries {
				if name := filepath.Join(path, e.Name()); e.Type().IsRegular() && isDicom(name) {
					files = append(files, name)
				}
			}
		}
	case err == nil:
		files = []string{path}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, pathCause(err)
	default:
		if files, err = filepath.Glob(path); err != nil {
			return nil, fmt.Errorf("%w; want a folder or a pattern such as ct/*.tif", err)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("no slices: no such folder with images, and no file that the pattern matches")
	}
	slices.SortFunc(files, Natural)
	return files, nil
}

// isDicom reports whether a file's first bytes say so.
func isDicom(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only looked at
	head := make([]byte, dicomPreamble+4)
	_, err = io.ReadFull(f, head)
	return err == nil && matchesDicom(head)
}

// inPlace orders slices by where they say that they are, if the first says so.
func inPlace(files []string, o FileOptions) error {
	places := make([]*slicePlace, len(files))
	errs := make([]error, len(files))
	look := func(i int) {
		set := &fileSet{}
		defer set.Close() // only looked at
		o := o
		o.Stream = true // what would be decoded whole is not
		b, err := set.describe(files[i], o)
		if err == nil {
			places[i] = b.place
		}
		errs[i] = err
	}
	if look(0); places[0] == nil {
		return nil // who reads it says what is wrong
	}
	share(int64(len(files)-1), func(next func() (int64, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			look(int(k) + 1)
		}
	})
	along := map[string]float64{}
	at := map[float64]string{}
	for i, p := range places {
		switch {
		case errs[i] != nil:
			return fmt.Errorf("slice %s: %w", files[i], errs[i])
		case p == nil:
			return fmt.Errorf("slice %s: it does not say where it is, as %s does; %s", files[i], files[0], dicomConvertWords)
		case p.volume != places[0].volume:
			return fmt.Errorf("slice %s: of another series or direction than %s; name the files of one, by a folder or a pattern", files[i], files[0])
		case at[p.along] != "":
			return fmt.Errorf("slice %s: at the place of %s; name the files of one volume, by a folder or a pattern", files[i], at[p.along])
		}
		along[files[i]], at[p.along] = p.along, files[i]
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(along[a], along[b]) })
	return nil
}

// openStack reads all slices into memory, on all cores, or gives a source that reads them when
// they are asked for.
func openStack(path string, o FileOptions) (grid.Source, error) {
	files, err := sliceFiles(path, o)
	if err != nil {
		return nil, err
	}
	if err := inPlace(files, o); err != nil {
		return nil, err
	}
	stream := o.Stream
	o.Stream = false // slices are read whole
	first, data, err := readSlice(files[0], o)
	if err != nil {
		return nil, fmt.Errorf("slice %s: %w", files[0], err)
	}
	if first.shape.D > 1 {
		return nil, fmt.Errorf("slice %s: a volume of %v; want images of two axes", files[0], first.shape)
	}
	whole := *first
	if whole.shape, err = fileShape([]int64{int64(len(files)), first.shape.H, first.shape.W}); err != nil {
		return nil, err
	}
	if stream {
		return streamStack(files, first, whole.shape, o)
	}
	identities := make([]string, len(files))
	identities[0] = first.in.identity
	if err := whole.room(whole.in); err != nil {
		return nil, err
	}
	whole.decoded = grid.NewBuffer(whole.bytes())
	copy(whole.decoded, data)
	err = eachSlice(int64(len(files)-1), func(k int64) error {
		s, data, err := readSlice(files[k+1], o)
		if err == nil {
			err = s.like(first)
		}
		if err != nil {
			return fmt.Errorf("slice %s: %w", files[k+1], err)
		}
		identities[k+1] = s.in.identity
		copy(whole.decoded[(k+1)*first.bytes():], data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	whole.in.identity = strings.Join(identities, "")
	return whole.source()
}

// streamStack is a source of slices that are like the first.
func streamStack(files []string, first *fileBody, shape grid.Shape, o FileOptions) (grid.Source, error) {
	switch typ := first.native(); {
	case shape.D == 1:
		return nil, notStreamed{"it is one slice"}
	case first.ranked():
		return nil, notStreamed{fmt.Sprintf("its voxels of %s become float32, or ranks", first.stored)}
	case typ == grid.Float32 && !o.Every:
		return nil, notStreamed{"its levels are to be found first"}
	case typ != grid.Float32 && o.Levels > 0:
		return nil, notStreamed{"a number of levels is for float32 images"} // who reads it says so
	}
	return &stackStream{files, first, shape, o}, nil
}

// A stackStream reads its slices from a file each, when they are asked for.
type stackStream struct {
	files []string
	first *fileBody
	shape grid.Shape
	o     FileOptions
}

// Shape is the volume's extent.
func (s *stackStream) Shape() grid.Shape { return s.shape }

// Type is the volume's element type.
func (s *stackStream) Type() grid.Type { return s.first.native() }

// Ladder is the list of levels that answers about the volume are reported on.
func (s *stackStream) Ladder() grid.Ladder { return grid.Identity(s.Type()) }

// ReadSlab reads slices lo ≤ i < hi from their files to dst. What is wrong with a file is a *ReadError.
func (s *stackStream) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	size := int64(len(dst)) / (hi - lo)
	return eachSlice(hi-lo, func(k int64) error {
		slice, err := s.slice(lo + k)
		if err != nil {
			return fmt.Errorf("slice %w", &ReadError{s.files[lo+k], err})
		}
		copy(dst[k*size:(k+1)*size], slice)
		return nil
	})
}

// eachSlice calls read with each of n slices, on all cores.
func eachSlice(n int64, read func(k int64) error) error {
	var first firstError
	share(n, func(next func() (int64, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			first.of(k, read(k))
		}
	})
	return first.err
}

// slice is the voxels of a file.
func (s *stackStream) slice(i int64) ([]byte, error) {
	b, data, err := readSlice(s.files[i], s.o)
	if err == nil {
		err = b.like(s.first)
	}
	if err != nil {
		return nil, err
	}
	data, _, err = b.convert(data)
	if err == nil && s.Type() == grid.Float32 {
		err = s.o.normalise()(grid.Values[float32](data), i*s.shape.SliceVoxels(), s.shape)
	}
	return data, err
}

// readSlice reads a slice's stored voxels, and closes its files.
func readSlice(path string, o FileOptions) (b *fileBody, data []byte, err error) {
	files := &fileSet{}
	defer func() {
		if cerr := files.Close(); err == nil {
			err = cerr
		}
	}()
	if b, err = files.describe(path, o); err != nil {
		return nil, nil, err
	}
	if b.fortran {
		return nil, nil, errors.New("its voxels are in Fortran order, which a slice's may not be; save it in C order")
	}
	b.in.identity = files.identity()
	data, err = b.read()
	return b, data, err
}

// like reports whether a slice can be one beside the first.
func (b *fileBody) like(first *fileBody) error {
	switch {
	case b.shape != first.shape || b.stored != first.stored:
		return fmt.Errorf("%v of %v, where the first slice is %v of %v; want slices of one shape and type", b.shape, b.stored, first.shape, first.stored)
	case b.bits != first.bits:
		return errors.New("not as many bits of each voxel count as in the first slice; save them alike")
	case b.big != first.big || b.otherSign != first.otherSign:
		return errors.New("its bytes are in another order than those of the first slice; save them alike")
	case b.scaled != first.scaled || b.slope != first.slope || b.inter != first.inter:
		return fmt.Errorf("its values are scaled by %v and %v, those of the first slice by %v and %v; save them alike", b.slope, b.inter, first.slope, first.inter)
	}
	return nil
}
