// Command eccbench measures and verifies implementations of the Euler
// characteristic curve of 2D and 3D images. Run eccbench --help.
package main

import (
	"fmt"
	"os"

	"eccbench/impls"
)

func main() {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "eccbench: finding its own program:", err)
		os.Exit(exitFailure)
	}
	open := impls.Devices()
	c := command{
		impls: impls.List(open), open: open,
		worker: []string{self, "worker"},
		stdin:  os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
	}
	os.Exit(c.eccbench(os.Args[1:]))
}
