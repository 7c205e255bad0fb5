// Command pack compiles the kernels. It runs in the folder of their sources:
//
//	pack -clang clang-19 -ptxas ptxas -zstd zstd [-machine I/N] [KIND...]
//
// It writes the PTX of each kind of modules to ptx/<kind>.ptx.tar.zst, in the short form of package
// terse; machine code from it to ptx/<kind>.<architecture>.tar.zst; and the PTX of modules with
// known defects to faults/faults.ptx.tar.zst. The same compilers write the same bytes. With
// -machine, machine code is written only for shard I of N shards of the kinds, because it takes ten
// times as long as PTX; the other files stay.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"eccbench/internal/crew"
	"eccbench/internal/shard"
	"eccbench/kernels/bundle"
	"eccbench/kernels/source"
	"eccbench/kernels/terse"
)

func main() {
	clang := flag.String("clang", "clang-19", "compiles sources to PTX")
	ptxas := flag.String("ptxas", "ptxas", "assembles PTX to machine code")
	zstd := flag.String("zstd", "zstd", "a command line that compresses standard input to standard output")
	machine := flag.String("machine", "1/1", "the shard of the kinds of which there is to be new machine code, as I/N")
	flag.Parse()
	s, err := shard.Parse(*machine, os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack: -machine", err)
		os.Exit(2)
	}
	if err := run(compilers{*clang, *ptxas, *zstd, s}, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// run writes the files of the given kinds of modules. Without kinds it writes all files, and
// removes others.
func run(c compilers, kinds []string) error {
	modules, err := source.Modules(os.DirFS("."))
	if err != nil {
		return err
	}
	of := map[string][]source.Module{}
	for _, m := range modules {
		kind := source.Kind(m.Name())
		of[kind] = append(of[kind], m)
	}
	all := len(kinds) == 0
	if all {
		for kind := range of {
			kinds = append(kinds, kind)
		}
		slices.Sort(kinds)
	}
	if err := os.MkdirAll("ptx", 0o777); err != nil {
		return err
	}
	var work []func() error
	remade := shard.Select(c.machine, kinds)
	for _, kind := range kinds {
		if len(of[kind]) == 0 {
			return fmt.Errorf("no kernels called %s", kind)
		}
		work = append(work, func() error { return c.kind(kind, of[kind], slices.Contains(remade, kind)) })
	}
	wanted := map[string]bool{}
	for kind := range of {
		for _, form := range append(source.Machines(), "ptx") {
			wanted[file(kind, form)] = true
		}
	}
	work = append(work, func() error {
		faulty, err := c.compile(source.FaultyModules())
		if err != nil {
			return err
		}
		return c.writePTX(filepath.Join("faults", "faults.ptx.tar.zst"), faulty)
	})
	if err := runAll(work); err != nil || !all {
		return err
	}
	old, err := filepath.Glob(file("*", "*"))
	for _, name := range old {
		if !wanted[name] {
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// file returns the path of the modules of a kind in a form: "ptx" or an architecture.
func file(kind, form string) string { return filepath.Join("ptx", kind+"."+form+".tar.zst") }

// runAll runs functions on all cores.
func runAll(work []func() error) error {
	return crew.Try(runtime.GOMAXPROCS(0), len(work), func(_, i int) error { return work[i]() })
}

type compilers struct {
	clang, ptxas, zstd string
	machine            shard.Shard // the shard of the kinds whose machine code is written
}

// kind writes the PTX of a kind of modules, and on request the machine code.
func (c compilers) kind(kind string, modules []source.Module, machine bool) error {
	ptx, err := c.compile(modules)
	if err != nil {
		return err
	}
	if err := c.writePTX(file(kind, "ptx"), ptx); err != nil {
		return err
	}
	if !machine {
		return nil
	}
	for _, arch := range source.Machines() {
		code, err := c.assemble(ptx, arch)
		if err != nil {
			return err
		}
		if err := c.write(file(kind, arch), code); err != nil {
			return err
		}
	}
	return nil
}

// compile returns the plain PTX of modules, with stamps.
func (c compilers) compile(modules []source.Module) (files []bundle.File, err error) {
	for _, m := range modules {
		stamp, err := m.Stamp(os.DirFS("."))
		if err != nil {
			return nil, err
		}
		ptx, err := output(exec.Command(c.clang, append(m.Flags(), "-o", "-")...))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name(), err)
		}
		plain, err := terse.Plain(slices.Concat([]byte(stamp+"\n"), ptx))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name(), err)
		}
		files = append(files, bundle.File{Name: m.Name() + ".ptx", Stamp: stamp, Data: plain})
	}
	return files, nil
}

// assemble returns the machine code of PTX.
func (c compilers) assemble(ptx []bundle.File, arch string) (files []bundle.File, err error) {
	dir, err := os.MkdirTemp("", "eccbench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, f := range ptx {
		in, out := filepath.Join(dir, "module.ptx"), filepath.Join(dir, "module.cubin")
		if err := os.WriteFile(in, f.Data, 0o666); err != nil {
			return nil, err
		}
		if _, err := output(exec.Command(c.ptxas, "-arch="+arch, "-o", out, in)); err != nil {
			return nil, fmt.Errorf("%s for %s: %w", f.Name, arch, err)
		}
		code, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		files = append(files, bundle.File{Name: strings.TrimSuffix(f.Name, ".ptx") + ".cubin", Stamp: f.Stamp, Data: code})
	}
	return files, nil
}

// output returns the standard output of a command. Its error includes the standard error.
func output(c *exec.Cmd) ([]byte, error) {
	var out, problem bytes.Buffer
	c.Stdout, c.Stderr = &out, &problem
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, problem.Bytes())
	}
	return out.Bytes(), nil
}

// writePTX writes a bundle of plain PTX in short form.
func (c compilers) writePTX(name string, files []bundle.File) error {
	short := slices.Clone(files)
	for i, f := range files {
		short[i].Data = terse.Short(f.Data)
		if !bytes.Equal(terse.Long(short[i].Data), f.Data) {
			return fmt.Errorf("%s: its short form is of another text", f.Name)
		}
	}
	return c.write(name, short)
}

func (c compilers) write(name string, files []bundle.File) error {
	archive, err := bundle.Archive(files)
	if err != nil {
		return err
	}
	words := strings.Fields(c.zstd)
	compressor := exec.Command(words[0], words[1:]...)
	compressor.Stdin = bytes.NewReader(archive)
	data, err := output(compressor)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, data, 0o666)
}
