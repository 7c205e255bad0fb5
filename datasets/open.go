package datasets

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files"
	"eccbench/datasets/files/format"
	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// A Generator is the public description of one kind of input.
type Generator struct {
	Name    string // the first word of the input string
	Doc     string // one line
	Example string // an input string
	Params  []Param
	// FromFiles reports that the image is read from a user's files. Path, the last parameter, is their
	// place.
	FromFiles bool
}

// A Param is a parameter of a generator, in the order of the canonical spelling. Default describes
// the default value in words, "" if the parameter is required.
type Param struct{ Key, Default, Doc string }

// A generator is a kind of input with the function that reads its parameters.
type generator struct {
	Generator
	// seeded generators make variants with other seeds; other generators rotate the image.
	seeded bool
	// read consumes the parameters, in any order, and returns the function that makes the source. It is
	// called for every mention of a name and must be cheap. The maker is used only if r.err is nil.
	read func(r *reading) maker
}

type maker func() (grid.Source, error)

// newGenerator returns a generator of images without files. It is seeded if it has the parameter of a seed.
func newGenerator(name, doc, example string, params []Param, read func(*reading) maker) generator {
	return generator{Generator{Name: name, Doc: doc, Example: example, Params: params},
		slices.Contains(params, seedParam()), read}
}

// generators returns the only list of inputs, in the order of their documentation.
func generators() []generator {
	return []generator{
		noiseGenerator(), grfGenerator(), distinctGenerator(), extremesGenerator(), betweenGenerator(), rampGenerator(),
		constantGenerator(), pointGenerator(), dotsGenerator(), checkerboardGenerator(),
		phantomGenerator(), tubesGenerator(), ballGenerator(), shellGenerator(), torusGenerator(), linksGenerator(),
		drillsGenerator(), cavitiesGenerator(), serpentGenerator(), spongeGenerator(),
		fileGenerator(), stackGenerator(),
	}
}

// Generators lists every generator with its parameters in canonical order.
func Generators() []Generator {
	var list []Generator
	for _, g := range generators() {
		g.Params = g.allParams()
		list = append(list, g.Generator)
	}
	return list
}

// allParams adds the parameters that every generator has; a path stays last.
func (g generator) allParams() []Param {
	roll := Param{"roll", "0", "turn the image cyclically: slice i shows slice i+roll"}
	if g.FromFiles {
		return slices.Insert(slices.Clone(g.Params), len(g.Params)-1, roll)
	}
	repeat := Param{"repeat", "all slices", "the first slices again and again, so many: slice i shows slice i mod repeat"}
	return append(slices.Clone(g.Params), roll, repeat, storeParam())
}

func shapeParam() Param {
	return Param{"shape", "", "voxels along x, y and z: WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH"}
}

func levelsParam() Param {
	return Param{"levels", "256 for uint8, 65536 for int16 and uint16, 1024 for float32",
		"number of levels; at most 16777216 for float32"}
}

func typeParam() Param {
	return Param{"type", "float32", "element type: uint8, int16, uint16 or float32"}
}

func seedParam() Param { return Param{"seed", "1", "64-bit seed of the random numbers"} }

// A resolved name has all its values.
type resolved struct {
	generator generator
	canonical []name.Pair
	roll      int64
	repeat    int64  // 0 for an image without repetition
	store     string // the folder of the stored image, "" for a generated one
	make      maker
	files     func() []string // the files that make reads; nil for none
	geometry  func() (*format.Geometry, error)
}

// resolve checks a name and fills in its defaults. Errors are one line.
func resolve(n Name) (resolved, error) { return resolveWith(n, nil) }

func resolveWith(n Name, surveys *format.Surveys) (resolved, error) {
	return resolveOn(n, format.Options{Surveys: surveys}, vectors.Fastest())
}

// resolveOn is resolve with options of files, for a machine with an instruction set.
func resolveOn(n Name, o format.Options, isa string) (resolved, error) {
	all := generators()
	at := slices.IndexFunc(all, func(g generator) bool { return g.Name == n.Generator })
	if at < 0 {
		var names []string
		for _, g := range all {
			names = append(names, g.Name)
		}
		return resolved{}, fmt.Errorf("unknown generator %q: want one of %s", n.Generator, strings.Join(names, ", "))
	}
	g := all[at]
	var keys []string
	for _, p := range g.allParams() {
		keys = append(keys, p.Key)
	}
	for _, p := range n.given {
		if !slices.Contains(keys, p.Key) {
			return resolved{}, fmt.Errorf("%s: unknown key %q: want one of %s", g.Name, p.Key, strings.Join(keys, ", "))
		}
	}
	r := &reading{given: n.given, options: o, isa: isa}
	res := resolved{generator: g, make: g.read(r)}
	res.roll, res.repeat, res.files, res.geometry = r.roll(), r.repeat(), r.files, r.geometry
	if v, ok := r.take("path"); ok && !g.FromFiles {
		res.store = v
		r.put("path", v)
		if v == "" {
			r.refuse("path", v, "want the folder that holds the image")
		}
	}
	if r.err != nil {
		return resolved{}, fmt.Errorf("%s: %w", g.Name, r.err)
	}
	for _, key := range keys {
		if v := find(r.read, key); v != "" {
			res.canonical = append(res.canonical, name.Pair{Key: key, Value: v})
		}
	}
	return res, nil
}

// roll reads the parameter that every generator has. It is reduced modulo the number of slices if
// the shape is known, and left out of the name if 0.
func (r *reading) roll() int64 {
	v, ok := r.take("roll")
	if !ok {
		return 0
	}
	by, err := strconv.ParseInt(v, 10, 64)
	if err != nil || by < 0 {
		r.refuse("roll", v, "want a whole number of slices, 0 or more")
		return 0
	}
	if s, err := grid.ParseShape(find(r.read, "shape")); err == nil {
		by %= s.Slices()
	}
	if by != 0 {
		r.put("roll", strconv.FormatInt(by, 10))
	}
	return by
}

// repeat reads the parameter that every generated image has. It is left out of the name if it
// covers all slices.
func (r *reading) repeat() int64 {
	if _, ok := r.take("repeat"); !ok {
		return 0
	}
	slices := int64(math.MaxInt64)
	if s, err := grid.ParseShape(find(r.read, "shape")); err == nil {
		slices = s.Slices()
	}
	n := r.integer("repeat", 0, 1, math.MaxInt64, "")
	if n >= slices {
		r.read = r.read[:len(r.read)-1]
		return 0
	}
	return n
}

// open makes the source, or opens the file that it is stored in.
func (r resolved) open() (grid.Source, error) {
	s, err := r.generate()
	if err != nil || r.store == "" {
		return s, err
	}
	return openStored(r.storeFile(), s)
}

// blame names the input in an error of its maker. Errors of files have their path already.
func (r resolved) blame(err error) error {
	if r.generator.FromFiles {
		return err
	}
	return fmt.Errorf("%s: %w", r.generator.Name, err)
}

// generate makes the source.
func (r resolved) generate() (grid.Source, error) {
	s, err := r.make()
	if err != nil {
		return nil, r.blame(err)
	}
	s = roll(s, r.roll)
	if r.repeat != 0 {
		s = grid.Repeat(s, r.repeat)
	}
	return s, nil
}

// Open returns the Source of an input string, with the same bytes on every machine. Generated
// sources store no image: each slab is computed when it is read. Errors are one line. A source that
// is an io.Closer has an open file.
func Open(s string) (grid.Source, error) { return OpenWith(nil, s) }

// Open is the function Open for an image that may use a number of bytes of memory if it is loaded whole; 0 for any.
func (n Name) Open(memory int64) (grid.Source, error) { return n.OpenRanked(memory, element.Ranks{}) }

// OpenRanked is Open with a representation of values that float32 does not hold.
func (n Name) OpenRanked(memory int64, ranks element.Ranks) (grid.Source, error) {
	r, err := resolveOn(n, format.Options{Memory: memory, Ranks: ranks}, vectors.Fastest())
	if err != nil {
		return nil, err
	}
	return r.open()
}

// OpenWith is Open with the surveys of files that were read before.
func OpenWith(l *format.Surveys, s string) (grid.Source, error) {
	n, err := split(s)
	if err != nil {
		return nil, err
	}
	r, err := resolveWith(n, l)
	if err != nil {
		return nil, err
	}
	return r.open()
}

// Variants returns up to n names of different images with the shape, type and ladder of s, which is
// the first. Seeded generators use the next seeds. Other images are rotated along their slowest
// axis by round(i·slices/n), or by the same share of their period. An image with a short period has
// fewer variants; a constant has one. Seeded images of very few voxels may be equal by chance.
func Variants(s string, n int) ([]string, error) { return VariantsWith(nil, s, n) }

// VariantsWith is Variants with the surveys of files that were read before.
func VariantsWith(l *format.Surveys, s string, n int) ([]string, error) {
	name, err := split(s)
	if err != nil {
		return nil, err
	}
	r, err := resolveWith(name, l)
	if err != nil {
		return nil, err
	}
	names := []string{name.String()}
	if n <= 1 {
		return names, nil
	}
	period, turns, err := r.period()
	if err != nil {
		return nil, err
	}
	if period == 1 {
		return names, nil
	}
	if r.generator.seeded {
		seed, err := strconv.ParseUint(find(r.canonical, "seed"), 10, 64)
		if err != nil {
			return nil, err
		}
		for i := uint64(1); i < uint64(n); i++ {
			names = append(names, name.With("seed", strconv.FormatUint(seed+i, 10)).String())
		}
		return names, nil
	}
	turn := int64(0)
	for i := int64(1); i < int64(n); i++ {
		next := (2*i*period + int64(n)) / (2 * int64(n))
		if next == turn || next == period {
			continue
		}
		turn = next
		names = append(names, name.With("roll", strconv.FormatInt((r.roll+turn)%turns, 10)).String())
	}
	return names, nil
}

// Reseed returns the name of the image of a seeded generator with another seed, or "" for images
// without a seed or on a disk.
func Reseed(s string, seed uint64) string {
	name, err := split(s)
	if err != nil {
		return ""
	}
	if r, err := resolveWith(name, nil); err != nil || !r.generator.seeded || find(r.canonical, "path") != "" {
		return ""
	}
	return name.With("seed", strconv.FormatUint(seed, 10)).String()
}

// period opens the image and returns its period under rotation, and its number of slices. 1 means
// an image that cannot change; a seeded one changes with its seed even if it has one slice.
func (r resolved) period() (period, turns int64, err error) {
	s, err := r.make()
	if err != nil {
		return 0, 0, r.blame(err)
	}
	defer grid.Close(s)
	turns = s.Shape().Slices()
	if m, ok := s.(*image); ok && m.period != 0 {
		return m.period, turns, nil
	}
	if r.generator.seeded {
		return max(2, turns), turns, nil
	}
	return turns, turns, nil
}

func fileGenerator() generator {
	return generator{
		Generator: Generator{
			Name: "file",
			Doc: "the image in a raw, npy, npz, NIfTI, NRRD, MetaImage, MRC, FITS, ISQ, DICOM, PNG, BMP or TIFF file, " +
				"or in a Zarr folder",
			Example:   "file/path=/data/ch2.nii.gz",
			FromFiles: true,
			Params: []Param{
				{"shape", "that of the file", "raw files: voxels along x, y and z"},
				{"levels", "every value of an 8 or 16-bit type, every distinct value of float32",
					"float32: number of evenly spaced levels instead, or every: each finite value is one, which extrema counts"},
				{"type", "that of the file", "raw files: one that NumPy has, such as uint16 or float64"},
				{"volume", "the only one",
					"of a file with several images of one shape, such as a time series: its number, from 0 on"},
				{"array", "the only one",
					"of an .npz archive or a Zarr group with several arrays: the name of one, such as that of a level of resolution"},
				{"channel", "the only one",
					"of an OME-NGFF image or a TIFF hyperstack with several channels: the name or the number of one"},
				{"strict", "read as the fill value", "true: a missing chunk of a Zarr array is an error"},
				{"nan", "refused", "mask: NaN are voxels that are no part of the image, with levels=every"},
				{"stream", "whether the file can be", "true: read slabs from the file; once: in order if they are compressed, " +
					"for who asks for them so; false: hold the image in memory"},
				{"path", "", "the file; comes last and may hold slashes"},
			},
		},
		read: readFile,
	}
}

func readFile(r *reading) maker {
	o := r.fileOptions()
	if _, ok := r.take("volume"); ok {
		v := r.integer("volume", 0, 0, math.MaxInt64, "")
		o.Volume = &v
	}
	if v, ok := r.take("array"); ok {
		o.Array = unescapes.Replace(v)
		r.put("array", v)
	}
	if v, ok := r.take("channel"); ok {
		o.Channel = unescapes.Replace(v)
		r.put("channel", v)
	}
	o.Strict = r.choice("strict", "true") != ""
	o.Gaps = r.choice("nan", "mask") != ""
	stream := r.choice("stream", "true", "once", "false")
	path := r.place("FILE")
	r.files = func() []string { return files.Files(path, o) }
	r.geometry = func() (*format.Geometry, error) { return files.GeometryOf(path, o) }
	return func() (grid.Source, error) {
		o := o
		o.Stream, o.Once = stream != "false", stream == "once"
		s, err := files.Open(path, o)
		if stream != "true" && o.Stream && errors.As(err, &format.NotStreamed{}) {
			o.Stream = false
			s, err = files.Open(path, o)
		}
		return s, err
	}
}

// Escaped encodes a text as a value of an input string, which has no slashes.
func Escaped(text string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(text)
}

var unescapes = strings.NewReplacer("%25", "%", "%2F", "/")

// fileOptions reads the description of a raw file, and the levels of any file.
func (r *reading) fileOptions() format.Options {
	o := r.options
	if v, ok := r.take("shape"); ok {
		if s, err := grid.ParseShape(v); err == nil && s.D == 1 && strings.Count(v, "x") == 2 {
			o.OneSlice = true
			r.put("shape", s.String()+"x1")
		}
		o.Shape = r.shape()
	}
	if v, ok := r.take("type"); ok {
		if t, err := grid.ParseType(v); err == nil {
			o.Type = t
		} else if o.Other = v; o.Stored() == 0 {
			r.refuse("type", v, "want one of %s", strings.Join(element.TypeNames(), ", "))
		}
		r.put("type", v)
	}
	if v, ok := r.take("levels"); ok && v == "every" {
		o.Every = true
		r.put("levels", v)
	} else if ok {
		o.Levels = r.integer("levels", 0, 1, grid.MaxLevels, "")
	}
	return o
}

// place reads the path at the end of a file's name.
func (r *reading) place(what string) string {
	path, ok := r.take("path")
	if !ok || path == "" {
		r.reject("path is missing: want path=%s as the last key", what)
	}
	r.put("path", path)
	return path
}

func stackGenerator() generator {
	return generator{
		Generator: Generator{
			Name:      "stack",
			Doc:       "a volume of 2D images, one per slice, in the natural order of their names",
			Example:   "stack/path=/data/ct/*.tif",
			FromFiles: true,
			Params: []Param{
				{"shape", "that of the files", "raw files: voxels of a slice along x and y"},
				{"levels", "every value of an 8 or 16-bit type, every distinct value of float32",
					"float32: number of evenly spaced levels instead, or every: each finite value is one, which extrema counts"},
				{"type", "that of the files", "raw files: one that NumPy has, such as uint16 or float64"},
				{"stream", "false", "true or once: read slices when they are asked for, if each slice alone determines its " +
					"voxels, in place of holding the volume in memory"},
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
	r.files = func() []string { return files.StackFiles(path, o) }
	return func() (grid.Source, error) { return files.OpenStack(path, o) }
}
