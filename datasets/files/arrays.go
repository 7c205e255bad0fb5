package files

// arrayFormats returns the formats of this package; raw files are the first.
func arrayFormats() []fileFormat {
	return []fileFormat{
		{name: "raw", extensions: []string{".raw", ".bin", ".dat"}, open: openRaw},
		{name: "npy", extensions: []string{".npy"}, matches: startsWith(npyMagic), open: openNpy},
		{name: "npz", extensions: []string{".npz"}, matches: startsWith(npzMagic), open: openNpz},
		{"NIfTI", []string{".nii", ".nii.gz", ".hdr", ".hdr.gz", ".img", ".img.gz"},
			matchesNifti, openNifti, niftiGeometryOf},
		{"NRRD", []string{".nrrd", ".nhdr"}, startsWith(nrrdMagic), openNrrd, nrrdGeometryOf},
		{"MetaImage", []string{".mha", ".mhd"}, matchesMeta, openMeta, metaGeometry},
		{name: "MRC", extensions: []string{".mrc", ".mrcs", ".map", ".rec"}, matches: matchesMrc, open: openMrc},
		{name: "ISQ", extensions: []string{".isq"}, matches: startsWith(isqMagic), open: openIsq},
		{name: "FITS", extensions: []string{".fits", ".fit", ".fts"}, matches: startsWith(fitsMagic), open: openFits},
	}
}
