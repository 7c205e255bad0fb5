//go:build cgo

// Command libeccbench is a C library, built with -buildmode=c-shared, of what package exports has. On
// Linux the Python package has cmd/eccbench instead, which is that library and the command.
package main

import _ "eccbench/internal/exports"

func main() {}
