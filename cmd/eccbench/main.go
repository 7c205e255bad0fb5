// Command eccbench measures and verifies implementations of the Euler
// characteristic curve of 2D and 3D images, and of other questions about images. Run
// eccbench --help.
package main

import (
	"fmt"
	"os"

	"eccbench/impls"
	"eccbench/internal/cli"
	"eccbench/internal/host"
	"eccbench/internal/worker"
)

func main() {
	if err := worker.CheckLimits(false); err != nil {
		fmt.Fprintln(os.Stderr, "eccbench:", err)
		os.Exit(cli.ExitFailure)
	}
	host.LimitHeap()
	c := cli.Program{
		Set:   impls.All(impls.Devices()),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	if self, err := os.Executable(); err == nil {
		c.Worker = []string{self, "worker"}
	}
	os.Exit(eccbench(&c, os.Args[1:]))
}
