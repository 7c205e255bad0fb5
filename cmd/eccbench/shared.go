//go:build cgo && shared

package main

import "C"

import _ "eccbench/internal/exports"

// eccbench_main runs the command in a program built as a C library, with -tags shared
// -buildmode=c-shared. It uses the arguments of the process and does not return.
//
//export eccbench_main
func eccbench_main() { main() }
