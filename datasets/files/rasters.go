package files

// rasterFormats returns the formats of this package.
func rasterFormats() []fileFormat {
	return []fileFormat{
		{name: "PNG", extensions: []string{".png"}, matches: startsWith(pngMagic), open: openPng},
		{name: "BMP", extensions: []string{".bmp"}, matches: matchesBmp, open: openBmp},
		{name: "TIFF", extensions: []string{".tif", ".tiff"},
			matches: startsWith("II*\x00", "MM\x00*", "II+\x00", "MM\x00+"), open: openTiff},
	}
}
