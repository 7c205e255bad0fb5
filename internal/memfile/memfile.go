// Package memfile maps files that processes share, such as files in memory, with huge pages if the
// system has them.
package memfile
