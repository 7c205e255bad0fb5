// Package files reads images from files in place: raw, npy, npz, NIfTI, NRRD, MetaImage, MRC, FITS,
// ISQ, DICOM, PNG, BMP and TIFF files, stacks of them, and Zarr hierarchies, including OME-NGFF.
//
// Each format has a function that reads the header and describes where the voxels are and how they
// are stored. The code after that is common to all formats.
package files
