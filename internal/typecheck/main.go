// Command typecheck reports compile errors of this module's packages and tests for another system,
// such as darwin. It checks types from the sources, with declarations only for imported packages.
// Compiling the standard library for that system takes thirty times as long.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck GOOS")
		os.Exit(2)
	}
	refused, err := check(os.Args[1], ".")
	for _, r := range refused {
		fmt.Fprintln(os.Stderr, r)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || len(refused) > 0 {
		os.Exit(1)
	}
}

// listed is a package in the output of go list, or the files of one test of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
	Error           *struct{ Err string }
}

// check returns the type errors of the packages below a folder of a module.
func check(system, dir string) (refused []error, err error) {
	list := exec.Command("go", "list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error",
		"./...")
	list.Dir = dir
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	known, own := map[string]*types.Package{"unsafe": types.Unsafe}, 0
	files := token.NewFileSet()
	// Each package comes after its imports.
	for from := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := from.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // go test writes its main
			continue
		}
		ours := p.Module != nil && p.Module.Main
		if ours {
			own++
		}
		if ours && p.Error != nil {
			refused = append(refused, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err))
		}
		problem := func(err error) {
			if ours {
				refused = append(refused, err)
			}
		}
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			if !filepath.IsAbs(name) {
				name = filepath.Join(p.Dir, name)
			}
			file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
			if err != nil {
				problem(err)
				continue
			}
			parsed = append(parsed, file)
		}
		config := types.Config{
			IgnoreFuncBodies: !ours, Error: problem, Sizes: types.SizesFor("gc", runtime.GOARCH),
			Importer: importer(func(path string) (*types.Package, error) {
				if to, ok := p.ImportMap[path]; ok {
					path = to
				}
				if known[path] == nil {
					return nil, fmt.Errorf("there is no package %q for %s", path, system)
				}
				return known[path], nil
			}),
		}
		path, _, _ := strings.Cut(p.ImportPath, " ") // a test's path has its package after a space
		known[p.ImportPath], _ = config.Check(path, files, parsed, nil)
	}
	if own == 0 {
		return refused, fmt.Errorf("no packages of this module in %s", dir)
	}
	return refused, nil
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
