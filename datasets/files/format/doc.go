// Package format has the code that is common to all formats of image files: the input of a reader,
// the description of the stored voxels, and their conversion to an image, whole or by slabs.
//
// A format has a function that reads its header and describes where the voxels are and how they are
// stored. It imports this package, and no other format.
package format
