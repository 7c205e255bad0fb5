// Package files reads images from files in place: files of every format of the packages below it,
// stacks of them, and Zarr hierarchies, including OME-NGFF. It finds the format of a file, and
// decompresses a file that is compressed as a whole.
package files
