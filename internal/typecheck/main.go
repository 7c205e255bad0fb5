// Command typecheck reports compile errors of this module's packages and tests for another system,
// such as darwin. It checks types from the sources, with declarations only for imported packages.
// Compiling the standard library for that system takes thirty times as long.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
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

// check returns the errors of the packages below a folder of a module.
func check(system, dir string) (refused []packages.Error, err error) {
	list, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes,
		Dir: dir, Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), Tests: true,
	}, "./...")
	for _, p := range list {
		refused = append(refused, p.Errors...)
	}
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no packages of this module in %s", dir)
	}
	return refused, err
}
