package files

import (
	"fmt"
	"slices"
	"strings"

	"eccbench/datasets/files/format"
)

// A foreignFormat is a common kind of image file that is not supported.
type foreignFormat struct {
	name       string
	extensions []string // lower case, with the dot
	magics     []string // first bytes; none if they are not specific
	convert    string   // a command or a call that makes a supported file
}

func foreignFormats() []foreignFormat {
	const (
		sitk   = `SimpleITK.WriteImage(SimpleITK.ReadImage(FILE), "image.nrrd")`
		bio    = "bfconvert FILE image.ome.tif (Bio-Formats)"
		hdf5   = "\x89HDF\r\n\x1a\n"
		magick = "magick FILE -colorspace gray image.png"
	)
	return []foreignFormat{
		{"MINC", []string{".mnc", ".mnc2"}, nil, "mnc2nii FILE image.nii"},
		{"MGH", []string{".mgz", ".mgh"}, nil, "mri_convert FILE image.nii.gz"},
		{"Imaris", []string{".ims"}, nil, bio},
		{"HDF5", []string{".h5", ".hdf5", ".hdf", ".he5"}, []string{hdf5},
			`numpy.save("image.npy", h5py.File(FILE)[NAME])`},
		{"netCDF", []string{".nc", ".nc4"}, []string{"CDF\x01", "CDF\x02", "CDF\x05", hdf5},
			`numpy.save("image.npy", xarray.open_dataset(FILE)[NAME]) (pip install xarray scipy netCDF4)`},
		{"MATLAB", []string{".mat"}, []string{"MATLAB 5.0 MAT-file"},
			`numpy.save("image.npy", scipy.io.loadmat(FILE)[NAME])`},
		{"N5", []string{".n5"}, nil, `numpy.save("image.npy", zarr.N5Store(FILE)[NAME])`},
		{"Zeiss CZI", []string{".czi"}, []string{"ZISRAWFILE"}, bio},
		{"Leica LIF", []string{".lif"}, []string{"\x70\x00\x00\x00"}, bio},
		{"Nikon ND2", []string{".nd2"}, []string{"\xda\xce\xbe\x0a"}, bio},
		{"Olympus", []string{".oib", ".oif", ".vsi"}, nil, bio},
		{"VTK", []string{".vtk", ".vti"}, []string{"# vtk DataFile"}, sitk},
		{"Amira", []string{".am"}, []string{"# AmiraMesh", "# Avizo"},
			`tifffile.imwrite("image.tif", skimage.io.imread(FILE)), or save it from Amira as NRRD`},
		{"PAR/REC", []string{".par"}, nil, "dcm2niix FILE"},
		{"Scanco AIM", []string{".aim"}, []string{"AIMDATA_V0"},
			`itk.imwrite(itk.imread(FILE), "image.nrrd") (pip install itk-ioscanco)`},
		{"Scanco projections", []string{".rsq", ".rad"}, nil, "reconstruct the volume, and name its ISQ file"},
		{"AFNI", []string{".brik", ".head"}, nil, "3dAFNItoNIFTI FILE"},
		{"JPEG", []string{".jpg", ".jpeg"}, []string{"\xff\xd8\xff"}, magick},
		{"JPEG 2000", []string{".jp2", ".j2k"}, []string{"\x00\x00\x00\x0cjP  "}, magick},
		{"GIF", []string{".gif"}, []string{"GIF87a", "GIF89a"}, magick},
		{"WebP", []string{".webp"}, nil, magick},
		{"PNM", []string{".pgm", ".ppm", ".pnm", ".pbm"}, []string{"P5\n", "P6\n", "P2\n"}, magick},
	}
}

// foreign returns the error of a file with the name or first bytes of an unsupported format, or nil.
func foreign(name string, head []byte) error {
	if f := foreignFormatOf(name, head); f != nil {
		return fmt.Errorf("%s is not read; convert it first: %s", f.name, f.convert)
	}
	return nil
}

// foreignFormatOf returns the unsupported format of a name or of first bytes, or nil. The first bytes of another such
// format than that of the name count more than the name.
func foreignFormatOf(name string, head []byte) *foreignFormat {
	name = strings.ToLower(strings.TrimRight(name, "/"))
	ends := func(ext string) bool { return strings.HasSuffix(name, ext) }
	formats := foreignFormats()
	begins := func(f foreignFormat) bool { return len(f.magics) > 0 && format.StartsWith(f.magics...)(head) }
	at := slices.IndexFunc(formats, func(f foreignFormat) bool { return slices.ContainsFunc(f.extensions, ends) })
	if at < 0 || len(formats[at].magics) > 0 && !begins(formats[at]) {
		if other := slices.IndexFunc(formats, begins); other >= 0 {
			at = other
		}
	}
	if at < 0 {
		return nil
	}
	return &formats[at]
}

// Foreign returns advice for a file or folder with the name of an unsupported format, nil for any
// other.
func Foreign(path string) error {
	if err := foreign(path, nil); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
