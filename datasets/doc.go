// Package datasets makes and reads the images that implementations are run on.
//
// An input is a printable string, a generator's name and its parameters:
//
//	noise/shape=512x512x512/levels=1024/type=float32/seed=7
//
// Open turns it into a Source of the same bytes on every machine. Generated
// images are computed with integer arithmetic, or with float64 operations that
// are rounded one at a time, so that no compiler setting changes a bit of them.
// Every slab is made alone, in memory bounded by the slab and a scratch of at
// most 64 MiB per goroutine: noise takes each voxel from a counter-based
// generator at the voxel's coordinates, closed forms are predicates of the
// coordinates, and files are read where they lie.
//
// OpenFile reads raw, npy, npz, NIfTI, NRRD, MetaImage, MRC, FITS, ISQ, DICOM, PNG, BMP and TIFF files, and
// Zarr hierarchies, those of OME-NGFF among them.
package datasets
