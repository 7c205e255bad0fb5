//go:build cgo

// Command libeccbench is the C library of package exports, built with -buildmode=c-shared. On Linux
// the Python package uses cmd/eccbench instead, which is that library and the command.
package main

import _ "eccbench/internal/exports"

func main() {}
