// Package host describes the machine and the running program: its memory and the limits of its
// control groups, the memory of a family of processes, and the digest of the program's file. Records
// contain the description; commands and the runner take limits from it.
package host
