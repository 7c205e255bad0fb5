package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/random"
	"eccbench/internal/decimal"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// maxAxis limits the axes of generated images. Coordinates then fit the 32-bit words of a Philox
// counter, together with the margin for smoothing.
const maxAxis = 1 << 31

// A reading parses the parameters of a name. It fills in defaults, normalises the spelling of every
// value and keeps the first error.
type reading struct {
	given []name.Pair
	read  []name.Pair // canonical values, in the order of reading
	err   error

	options format.Options  // of files: their surveys, memory and ranks
	files   func() []string // the files of the image; nil for none
	isa     string          // the instruction set for generated images

	// geometry reads the position of the voxels in space; nil for images without one.
	geometry func() (*format.Geometry, error)
}

// take returns the given value of a parameter, and whether it is given.
func (r *reading) take(key string) (string, bool) {
	for _, p := range r.given {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

func (r *reading) put(key, value string) { r.read = append(r.read, name.Pair{Key: key, Value: value}) }

// refuse keeps the first error, with the parameter and its accepted values.
func (r *reading) refuse(key, value, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s=%s: %s", key, name.Quoted(value), fmt.Sprintf(format, args...))
	}
}

// reject keeps the first error of a combination of parameters.
func (r *reading) reject(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// shape reads the required shape of a generated image. After an error it returns 1x1, so that
// dependent parameters can be read.
func (r *reading) shape() grid.Shape {
	unit := grid.Shape{D: 1, H: 1, W: 1}
	v, ok := r.take("shape")
	if !ok {
		r.reject("shape is missing: want shape=WIDTHxHEIGHT or shape=WIDTHxHEIGHTxDEPTH")
		return unit
	}
	s, err := grid.ParseShape(v)
	if err != nil {
		r.reject("%w", err)
		return unit
	}
	if max(s.D, s.H, s.W) > maxAxis {
		r.refuse("shape", v, "want axes of at most %d voxels", int64(maxAxis))
		return unit
	}
	r.put("shape", s.String())
	return s
}

func (r *reading) elementType() grid.Type {
	v, ok := r.take("type")
	if !ok {
		v = grid.Float32.String()
	}
	t, err := grid.ParseType(v)
	if err != nil {
		r.reject("%w", err)
		return grid.Float32
	}
	r.put("type", t.String())
	return t
}

// levels reads the number of levels of an image of type t.
func (r *reading) levels(t grid.Type) int64 {
	def := int64(1024)
	if t != grid.Float32 {
		def = random.MaxLevels(t)
	}
	return r.integer("levels", def, 1, random.MaxLevels(t), " for type "+t.String())
}

// integer reads a whole number in lo…hi; of describes the condition for these bounds.
func (r *reading) integer(key string, def, lo, hi int64, of string) int64 {
	n := def
	if v, ok := r.take(key); ok {
		got, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			r.refuse(key, v, "want a whole number, %d to %d%s", lo, hi, of)
			return lo
		}
		n = got
	}
	if n < lo || n > hi {
		r.refuse(key, strconv.FormatInt(n, 10), "want %d to %d%s", lo, hi, of)
		return lo
	}
	r.put(key, strconv.FormatInt(n, 10))
	return n
}

func (r *reading) seed() uint64 {
	seed := uint64(1)
	if v, ok := r.take("seed"); ok {
		got, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			r.refuse("seed", v, "want a whole number, 0 to %d", uint64(math.MaxUint64))
			return 0
		}
		seed = got
	}
	r.put("seed", strconv.FormatUint(seed, 10))
	return seed
}

// real reads a finite number. The canonical name omits the default, unless always is true.
func (r *reading) real(key string, def float64, always bool) float64 {
	x := def
	if v, ok := r.take(key); ok {
		got, err := decimal.ParseFloat(v, 64)
		if err != nil || math.IsNaN(got) || math.IsInf(got, 0) {
			r.refuse(key, v, "want a finite number")
			return def
		}
		x = got
	}
	if always || x != def {
		r.put(key, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return x
}

// choice reads an optional word, "" if it is missing.
func (r *reading) choice(key string, words ...string) string {
	v, ok := r.take(key)
	if !ok {
		return ""
	}
	if !slices.Contains(words, v) {
		r.refuse(key, v, "want one of %s", strings.Join(words, ", "))
	}
	r.put(key, v)
	return v
}
