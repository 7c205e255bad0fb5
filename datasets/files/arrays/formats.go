// Package arrays reads files with a header and plain voxels: raw, npy, npz, NIfTI, NRRD, MetaImage, MRC,
// ISQ and FITS. It knows no other format.
package arrays

import "eccbench/datasets/files/format"

// Formats returns the formats of this package; raw files are the first.
func Formats() []format.Format {
	return []format.Format{
		{Name: "raw", Extensions: []string{".raw", ".bin", ".dat"}, Open: openRaw},
		{Name: "npy", Extensions: []string{".npy"}, Matches: format.StartsWith(npyMagic), Open: openNpy},
		{Name: "npz", Extensions: []string{".npz"}, Matches: format.StartsWith(npzMagic), Open: openNpz},
		{Name: "NIfTI", Extensions: []string{".nii", ".nii.gz", ".hdr", ".hdr.gz", ".img", ".img.gz"},
			Matches: matchesNifti, Open: openNifti, Geometry: niftiGeometryOf},
		{Name: "NRRD", Extensions: []string{".nrrd", ".nhdr"},
			Matches: format.StartsWith(nrrdMagic), Open: openNrrd, Geometry: nrrdGeometryOf},
		{Name: "MetaImage", Extensions: []string{".mha", ".mhd"},
			Matches: matchesMeta, Open: openMeta, Geometry: metaGeometry},
		{Name: "MRC", Extensions: []string{".mrc", ".mrcs", ".map", ".rec"}, Matches: matchesMrc, Open: openMrc},
		{Name: "ISQ", Extensions: []string{".isq"}, Matches: format.StartsWith(isqMagic), Open: openIsq},
		{Name: "FITS", Extensions: []string{".fits", ".fit", ".fts"}, Matches: format.StartsWith(fitsMagic), Open: openFits},
	}
}
