//go:build cgo && shared

package main

import "C"

import _ "eccbench/internal/exports"

// eccbench_main is the command, where this program is built as a library for C, with -tags shared
// -buildmode=c-shared. It does not return. Arguments are those of the process.
//
//export eccbench_main
func eccbench_main() { main() }
