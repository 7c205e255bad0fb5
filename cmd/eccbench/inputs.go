package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
)

// inputFlags choose the inputs of a run.
type inputFlags struct {
	sizes  string
	dim    int
	gens   []string
	types  []string
	levels []int64
	seed   uint64
	smooth float64
	inputs []string
	shape  string

	set *pflag.FlagSet
}

func (i *inputFlags) add(f *pflag.FlagSet) {
	i.set = f
	f.StringVar(&i.sizes, "sizes", "64..256", "sizes: n, a..b (doubling), a..b*k, a..b+s, WxH, WxHxD, in a comma list")
	f.IntVar(&i.dim, "dim", 3, "dimension of sizes given as n: 2 or 3")
	f.StringSliceVar(&i.gens, "gen", []string{"noise"}, "generators, see eccbench list")
	f.StringSliceVar(&i.types, "type", []string{"float32"}, "element types: uint8, int16, uint16, float32")
	f.Int64SliceVar(&i.levels, "levels", nil, "numbers of levels (default the generator's for the type, 1024 for float32)")
	f.Uint64Var(&i.seed, "seed", 1, "seed of the first of the rotating inputs")
	f.Float64Var(&i.smooth, "smooth", 2, "smoothness of grf in voxels")
	f.StringArrayVar(&i.inputs, "input", nil, "an input string or an image file in place of generated ones; repeatable")
	f.StringVar(&i.shape, "shape", "", "shape of a raw file given with --input: WxH or WxHxD (and its --type)")
}

// names lists the inputs that the flags describe.
func (i *inputFlags) names() ([]string, error) {
	if len(i.inputs) > 0 {
		var names []string
		for _, in := range i.inputs {
			name, err := i.named(in)
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		}
		return names, nil
	}
	if i.shape != "" {
		return nil, usagef("--shape goes with a raw file in --input; use --sizes for generated images")
	}
	if i.dim != 2 && i.dim != 3 {
		return nil, usagef("--dim %d: want 2 or 3", i.dim)
	}
	dim := 0
	if i.set.Changed("dim") || !strings.Contains(i.sizes, "x") {
		dim = i.dim
	}
	shapes, err := parseSizes(i.sizes, dim)
	if err != nil {
		return nil, usageError{err}
	}
	levels := i.levels
	if !i.set.Changed("levels") {
		levels = []int64{0} // the generator's default
	} else if slices.Min(levels) < 1 {
		return nil, usagef("--levels %d: want at least 1", slices.Min(levels))
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

// generated is the name of an image, with the keys that its generator has.
func (i *inputFlags) generated(gen, typ string, levels int64, shape grid.Shape) (string, error) {
	for _, g := range datasets.Generators() {
		if g.Name != gen || gen == "file" {
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
				name += fmt.Sprintf("/seed=%d", i.seed)
			case "smooth":
				name += "/smooth=" + strconv.FormatFloat(i.smooth, 'g', -1, 64)
			}
		}
		name, err := datasets.Canonical(name)
		if err != nil {
			return "", usageError{err}
		}
		return name, nil
	}
	return "", usagef("--gen %s: no such generator; eccbench list names them", gen)
}

// named is the canonical name of what --input or an argument says: an input
// string, or the path of an image file.
func (i *inputFlags) named(s string) (string, error) {
	gen, _, _ := strings.Cut(s, "/")
	isName := slices.ContainsFunc(datasets.Generators(), func(g datasets.Generator) bool { return g.Name == gen })
	if isName && strings.Contains(s, "/") {
		name, err := datasets.Canonical(s)
		if err != nil {
			return "", usageError{err}
		}
		return name, nil
	}
	info, err := os.Stat(s)
	if err != nil {
		return "", usagef("input %s: %w", s, errors.Unwrap(err))
	}
	if info.IsDir() {
		return "", usagef("input %s: is a directory, want an image file", s)
	}
	name := "file"
	if i.shape != "" {
		name += "/shape=" + i.shape
		if i.set.Changed("type") && len(i.types) == 1 {
			name += "/type=" + i.types[0]
		}
	}
	if len(i.levels) == 1 {
		name += fmt.Sprintf("/levels=%d", i.levels[0])
	}
	name, err = datasets.Canonical(name + "/path=" + s)
	if err != nil {
		return "", usageError{err}
	}
	return name, nil
}

// choose is the names of the implementations that match a comma list of
// patterns.
func choose(patterns []string, abouts []bench.About) ([]string, error) {
	var chosen []string
	for _, pattern := range patterns {
		matched := false
		for _, a := range abouts {
			ok, err := path.Match(pattern, a.Name)
			if err != nil {
				return nil, usagef("--impl %s: %w", pattern, err)
			}
			matched = matched || ok
			if ok && !slices.Contains(chosen, a.Name) {
				chosen = append(chosen, a.Name)
			}
		}
		if !matched {
			return nil, usagef("--impl %s: no implementation matches; eccbench list names them", pattern)
		}
	}
	return chosen, nil
}
