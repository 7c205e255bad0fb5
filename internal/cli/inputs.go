package cli

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/datasets/files"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/runner"
)

// Inputs hold the flags that select the workload of a run and its inputs.
type Inputs struct {
	Workload string
	Seed     uint64

	benches []runner.Bench
	keys    map[string]func() float64 // the keys in the names of inputs, each a flag
	sizes   string
	dim     int
	gens    []string
	types   []string
	levels  []int64
	smooth  float64
	inputs  []string
	shape   string
	array   string
	channel string
	strict  bool
	// Stack means that an input is a folder of slices or a pattern of their names.
	Stack bool
	// Volume is the number of an image in a file with several, or "" for the only one.
	Volume string
	Set    *pflag.FlagSet
}

// AddWorkload adds the flag that selects the workload.
func (i *Inputs) AddWorkload(f *pflag.FlagSet, benches []runner.Bench) {
	i.Set, i.benches = f, benches
	var names []string
	for _, b := range benches {
		names = append(names, b.Name())
	}
	f.StringVar(&i.Workload, "workload", names[0], "the question, a `WORKLOAD`: "+strings.Join(names, ", "))
}

// addKeyed adds the flags of the workload: its name, and the keys in the names of its inputs.
func (i *Inputs) addKeyed(f *pflag.FlagSet, benches []runner.Bench) {
	i.AddWorkload(f, benches)
	i.keys = map[string]func() float64{}
	for _, b := range benches {
		for _, k := range b.Question().Form.Keys {
			if f.Lookup(k.Key) == nil {
				i.keys[k.Key] = addKey(f, k, b.Name()+": "+k.Doc)
			}
		}
	}
}

// addKey adds the flag of a key, and returns a function that returns its value.
func addKey(f *pflag.FlagSet, k name.Key, doc string) func() float64 {
	if k.Real {
		v := f.Float64(k.Key, k.Default, doc)
		return func() float64 { return *v }
	}
	v := f.Int64(k.Key, int64(k.Default), doc)
	return func() float64 { return float64(*v) }
}

// Add adds the flags of the workload and of its images, selected by size or by name.
func (i *Inputs) Add(f *pflag.FlagSet, benches []runner.Bench) {
	f.StringVar(&i.sizes, "sizes", "64..256", "`SIZES`: n, a..b (doubling), a..b*k, a..b+s, WxH, WxHxD")
	f.IntVar(&i.dim, "dim", 3, "dimension of sizes given as n: 2 or 3")
	f.StringSliceVar(&i.gens, "gen", []string{"noise"}, "generators (see eccbench list)")
	f.Uint64Var(&i.Seed, "seed", 1, "seed of the first rotating input")
	f.Float64Var(&i.smooth, "smooth", 2, "smoothness of grf in voxels")
	i.AddFile(f, []string{"float32"}, "element types: uint8, int16, uint16, float32",
		"numbers of levels (default by generator and type, 1024 for float32)")
	f.StringArrayVar(&i.inputs, "input", nil,
		"an image `FILE` or input string in place of generated images; repeatable")
	i.addKeyed(f, benches)
}

// AddGiven adds the flags of the workload and of images selected by name.
func (i *Inputs) AddGiven(f *pflag.FlagSet, benches []runner.Bench) {
	f.StringArrayVar(&i.inputs, "input", nil,
		"an image `FILE` or input string in place of the adversarial inputs; repeatable")
	i.addKeyed(f, benches)
}

// AddFile adds the flags that describe a file.
func (i *Inputs) AddFile(f *pflag.FlagSet, types []string, aboutTypes, aboutLevels string) {
	i.Set = f
	f.StringSliceVar(&i.types, "type", types, aboutTypes)
	f.Int64SliceVar(&i.levels, "levels", nil, aboutLevels)
	f.StringVar(&i.shape, "shape", "", "shape of a raw file: `WxHxD` (with --type)")
	f.BoolVar(&i.Stack, "stack", false, "read 2D images of a folder or a pattern as one volume")
	f.StringVar(&i.Volume, "volume", "",
		"`N`: index of the volume in a 4D file (0-based); all where several results are possible")
	f.StringVar(&i.array, "array", "", "`NAME` of an array of an .npz archive or a Zarr group (default the finest)")
	f.BoolVar(&i.strict, "strict", false, "reject missing Zarr chunks (default the fill value)")
	f.StringVar(&i.channel, "channel", "", "`NAME` or number of a channel of an OME-NGFF image or TIFF hyperstack")
}

// ofBatches ends the name of a workload that asks the question of another one about many images.
const ofBatches = "-batch"

// Bench returns the selected workload. With --count it is the one for batches.
func (i *Inputs) Bench() (runner.Bench, error) {
	var found runner.Bench
	for _, b := range i.benches {
		if b.Name() == i.Workload || b.Name() == i.Workload+ofBatches && i.Set.Changed("count") {
			found = b
		}
	}
	if found != nil {
		return found, nil
	}
	return nil, Usagef("--workload %s: no such workload; eccbench list --workload all names them", i.Workload)
}

// Names lists the inputs that the flags describe.
func (i *Inputs) Names() (names []string, err error) {
	b, err := i.Bench()
	if err != nil {
		return nil, err
	}
	if b.Question().Named != nil {
		return i.namedBy(b)
	}
	given, err := i.keyValues(b)
	if err != nil {
		return nil, err
	}
	form := b.Question().Form
	add := func(image string, values map[string]float64) error {
		name := image
		if form.Kind != "" {
			name = form.NameOf(values, image)
			if _, _, err := form.Parse(name); err != nil {
				return Usage(err)
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return nil
	}
	if len(i.inputs) == 0 {
		images, err := i.images()
		for _, image := range images {
			err = cmp.Or(err, add(image, given))
		}
		return names, err
	}
	if key := i.changed(generated...); key != "" {
		return nil, Usagef("--%s applies to generated images, and the names of --input have all parameters: "+
			"give one or the other", key)
	}
	levels, err := i.AskedLevels()
	if err != nil {
		return nil, err
	}
	for _, in := range i.inputs {
		values, of, err := i.parse(form, in, given)
		if err != nil {
			return nil, err
		}
		image, err := i.Named(of)
		if err != nil {
			return nil, err
		}
		if err := add(ask.Opening{Levels: levels}.Of(image).String(), values); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// parse returns the values of the keys of an input, and its image: values by flag, unless its name has them.
func (i *Inputs) parse(form name.Form, in string, given map[string]float64) (map[string]float64, string, error) {
	if form.Kind == "" || name.KindOf(in) != form.Kind {
		return given, in, nil
	}
	values, image, err := form.Parse(in)
	if err != nil {
		return nil, "", Usage(err)
	}
	if key := i.changed(slices.Sorted(maps.Keys(i.keys))...); key != "" {
		return nil, "", Usagef("input %s: specifies its own %s: leave --%s out", in, key, key)
	}
	return values, image, nil
}

// keyValues returns the values of the keys in the names of a workload, by flag or default.
func (i *Inputs) keyValues(b runner.Bench) (map[string]float64, error) {
	values := map[string]float64{}
	for _, k := range b.Question().Form.Keys {
		if values[k.Key] = k.Default; i.Set.Changed(k.Key) { // a key of several workloads has a default for each
			if values[k.Key] = i.keys[k.Key](); !k.Accepts(values[k.Key]) {
				return nil, Usagef("--%s %v: want %s", k.Key, name.Decimal(values[k.Key]), k.Range())
			}
		}
	}
	for key := range i.keys {
		if _, ok := values[key]; !ok && i.Set.Changed(key) {
			return nil, Usagef("--%s does not apply to the workload %s", key, b.Name())
		}
	}
	return values, nil
}

// namedBy lists the inputs of a workload that is not about images: the values of --input, or else
// its default inputs.
func (i *Inputs) namedBy(b runner.Bench) (names []string, err error) {
	if key := i.changed(slices.Concat(generated, ofFiles, slices.Sorted(maps.Keys(i.keys)))...); key != "" {
		return nil, Usagef("--%s does not apply to the workload %s, whose inputs are named: eccbench list --workload %s",
			key, b.Name(), b.Name())
	}
	given := i.inputs
	if len(given) == 0 {
		given = b.Question().Small
	}
	for _, in := range given {
		name, err := b.Question().Named(in)
		if err != nil {
			return nil, Usage(err)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Given returns the inputs of --input, or none of a command with inputs of its own, to which no key applies.
func (i *Inputs) Given() ([]string, error) {
	if len(i.inputs) > 0 {
		return i.Names()
	}
	if key := i.changed(slices.Sorted(maps.Keys(i.keys))...); key != "" {
		return nil, Usagef("--%s applies to the images of --input: the adversarial inputs specify their own", key)
	}
	return nil, nil
}

// The flags of generated images, and the flags of a file. Type and levels apply to both.
var (
	generated = []string{"sizes", "dim", "gen", "seed", "smooth"}
	ofFiles   = []string{"type", "levels", "shape", "stack", "volume", "array", "channel", "strict"}
)

// changed returns the first of some flags that is given, or "".
func (i *Inputs) changed(keys ...string) string {
	for _, key := range keys {
		if i.Set.Changed(key) {
			return key
		}
	}
	return ""
}

// AreGenerated reports whether the inputs are generated images.
func (i *Inputs) AreGenerated() bool { return len(i.inputs) == 0 }

// generatorsExist reports whether all requested generators exist.
func (i *Inputs) generatorsExist() bool {
	return !slices.ContainsFunc(i.gens, func(gen string) bool {
		return !slices.ContainsFunc(datasets.Generators(), func(g datasets.Generator) bool { return g.Name == gen })
	})
}

// images lists the generated images that the flags describe.
func (i *Inputs) images() ([]string, error) {
	if i.shape != "" {
		return nil, Usagef("--shape goes with a raw file in --input; use --sizes for generated images")
	}
	if key := i.changed(ofFiles[3:]...); key != "" {
		return nil, Usagef("--%s goes with a file in --input: leave it out for generated images", key)
	}
	for _, key := range []string{"type", "levels", "seed", "smooth"} {
		if i.Set.Changed(key) && !slices.ContainsFunc(datasets.Generators(), func(g datasets.Generator) bool {
			return slices.Contains(i.gens, g.Name) && slices.ContainsFunc(g.Params,
				func(p datasets.Param) bool { return p.Key == key })
		}) && i.generatorsExist() {
			return nil, Usagef("--%s does not apply to --gen %s", key, strings.Join(i.gens, ","))
		}
	}
	if i.dim != 2 && i.dim != 3 {
		return nil, Usagef("--dim %d: want 2 or 3", i.dim)
	}
	dim := 0
	if i.Set.Changed("dim") || !strings.Contains(i.sizes, "x") {
		dim = i.dim
	}
	shapes, err := parseSizes(i.sizes, dim)
	if err != nil {
		return nil, Usage(err)
	}
	levels := i.levels
	if !i.Set.Changed("levels") {
		levels = []int64{0} // the generator's default
	} else if slices.Min(levels) < 1 {
		return nil, Usagef("--levels %d: want at least 1", slices.Min(levels))
	}
	var names []string
	for _, gen := range i.gens {
		for _, typ := range i.types {
			for _, m := range levels {
				for _, shape := range shapes {
					name, err := i.generated(gen, typ, m, shape)
					if err != nil {
						return nil, err
					}
					if !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names, nil
}

// generated returns the name of an image with the keys that its generator accepts.
func (i *Inputs) generated(gen, typ string, levels int64, shape grid.Shape) (string, error) {
	for _, g := range datasets.Generators() {
		if g.Name != gen || g.FromFiles {
			continue
		}
		name := fmt.Sprintf("%s/shape=%v", gen, shape)
		for _, p := range g.Params {
			switch p.Key {
			case "type":
				name += "/type=" + typ
			case "levels":
				if levels != 0 {
					name += fmt.Sprintf("/levels=%d", levels)
				}
			case "seed":
				name += fmt.Sprintf("/seed=%d", i.Seed)
			case "smooth":
				name += "/smooth=" + strconv.FormatFloat(i.smooth, 'g', -1, 64)
			}
		}
		name, err := datasets.Canonical(name)
		if err != nil {
			return "", Usage(err)
		}
		return name, nil
	}
	return "", Usagef("--gen %s: no such generator; eccbench list names them", gen)
}

// AskedLevels returns the requested number of levels of an image, or 0 for none.
func (i *Inputs) AskedLevels() (int64, error) {
	switch len(i.levels) {
	case 0:
		return 0, nil
	case 1:
		if n := i.levels[0]; n < 1 {
			return 0, Usagef("--levels=%d: want 1 to %d", n, int64(grid.MaxLevels))
		}
		return i.levels[0], nil
	}
	return 0, Usagef("--levels %v: an image has one number of levels", i.levels)
}

// Named returns the name of an image: an input string, or a file or a stack with the flags that describe it. Those
// have no levels yet, which AskedLevels returns.
func (i *Inputs) Named(input string) (datasets.Name, error) {
	name, is, err := datasets.GivenName(input)
	if is {
		if key := i.changed(ofFiles...); key != "" {
			return name, Usagef("input %s: specifies its own %s: leave --%s out", input, key, key)
		}
		if err != nil {
			err = Usage(err)
		}
		return name, err
	}
	if input == "" {
		return name, Usagef("the name of the input is empty: want a file or an input string")
	}
	if _, err := strconv.ParseUint(i.Volume, 10, 63); err != nil && i.Volume != "" {
		return name, Usagef("--volume %s: want the number of one image, such as --volume 0; curve also accepts all", i.Volume)
	}
	if i.Stack {
		if name = datasets.StackName(input); i.Volume != "" || i.array != "" || i.channel != "" || i.strict {
			return name, Usagef("input %s: --volume, --array, --channel and --strict apply to one file: leave them or "+
				"--stack out", input)
		}
	}
	if i.Set.Changed("type") && (i.shape == "" || len(i.types) != 1) {
		return name, Usagef("input %s: --type is the one of a raw file, and goes with its --shape: any other file "+
			"specifies its own", input)
	}
	if i.Set.Changed("type") {
		name = name.With("type", i.types[0])
	}
	if i.strict {
		name = name.With("strict", "true")
	}
	name = name.With("shape", i.shape).With("array", datasets.Escaped(i.array)).
		With("channel", datasets.Escaped(i.channel)).With("volume", i.Volume)
	if err := name.Check(); err != nil {
		return name, Usage(err)
	}
	return name, nil
}

// NamedWhole is Named for an image other than the input, such as a mask, with a single image in its
// file. The flags for the shape and the type apply to it if it is a raw file, too.
func (i Inputs) NamedWhole(input string) (datasets.Name, error) {
	i.Stack, i.Volume, i.array, i.channel, i.strict = false, "", "", "", i.strict && files.IsZarr(input)
	if datasets.IsName(input) || files.IsImage(input) || files.IsZarr(input) {
		i.Set, i.shape = pflag.NewFlagSet("", pflag.ContinueOnError), ""
	}
	return i.Named(input)
}

// Choose returns the names of the implementations that match one of the patterns.
func Choose(patterns []string, abouts []bench.About) ([]string, error) {
	var chosen []string
	for _, pattern := range patterns {
		matched := false
		for _, a := range abouts {
			ok, err := path.Match(pattern, a.Name)
			if err != nil {
				return nil, Usagef("--impl %s: %w", pattern, err)
			}
			matched = matched || ok
			if ok && !slices.Contains(chosen, a.Name) {
				chosen = append(chosen, a.Name)
			}
		}
		if !matched {
			return nil, Usagef("--impl %s: no implementation matches; eccbench list names them", pattern)
		}
	}
	return chosen, nil
}
