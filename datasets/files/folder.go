package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"eccbench/datasets/files/dicom"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/regular"
)

// sliceFiles returns the files of a stack in natural order: the images in a folder, or the matches of a pattern.
// others are the remaining entries of the folder, without ignored ones.
func sliceFiles(path string, o format.Options) (files, others []string, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		if files, others, err = folderSlices(path, o); err != nil {
			return nil, nil, err
		}
	case err == nil:
		files = []string{path}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, nil, storage.Cause(err)
	default:
		if files, err = filepath.Glob(path); err != nil {
			return nil, nil, fmt.Errorf("%w; want a folder or a pattern such as ct/*.tif", err)
		}
	}
	if len(files) == 0 {
		return nil, nil, errors.New("no slices: no such folder with images, and no file that the pattern matches")
	}
	slices.SortFunc(files, Natural)
	return files, others, nil
}

// folderSlices returns the images in a folder: the files with names of images, or else the files that start as DICOM.
// In a DICOM series, a file without an extension or with that of a slice is a slice too, so that a damaged one is an
// error.
func folderSlices(path string, o format.Options) (files, others []string, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, nil, storage.Cause(err)
	}
	isNoFile := map[string]bool{} // folders, links to them, and pipes
	// divide moves the entries with a property from others to files.
	divide := func(isSlice func(name string) bool) {
		rest := others
		others = nil
		for _, name := range rest {
			if !isNoFile[name] && isSlice(name) {
				files = append(files, name)
			} else {
				others = append(others, name)
			}
		}
	}
	for _, e := range entries {
		if !IsIgnored(e.Name()) {
			name := filepath.Join(path, e.Name())
			others = append(others, name)
			if !e.Type().IsRegular() {
				info, err := os.Stat(name)
				isNoFile[name] = err == nil && !info.Mode().IsRegular()
			}
		}
	}
	divide(func(name string) bool {
		return IsImage(name) || o.Typed() && fileFormats()[0].HasExtension(strings.ToLower(name))
	})
	if o.Typed() || slices.ContainsFunc(files, func(name string) bool { return !hasDicomName(name) }) {
		return files, others, nil
	}
	if len(files) == 0 { // files of a scanner may have no extensions
		divide(isDicom)
	}
	if len(files) > 0 {
		extensions := map[string]bool{"": true}
		for _, name := range files {
			extensions[extension(name)] = true
		}
		known := len(files)
		divide(func(name string) bool { return extensions[extension(name)] && !isText(name) })
		for _, name := range files[known:] {
			if !isDicom(name) {
				return nil, nil, sliceError(name, errors.New("no DICOM file, although the folder is a DICOM series; copy it again, "+
					"or choose the slices by a pattern such as 'ct/IM*'"))
			}
		}
	}
	return files, others, nil
}

// IsIgnored reports whether a file name is that of an operating system or a program's index, which is never an image.
func IsIgnored(name string) bool {
	return strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"thumbs.db", "desktop.ini", "dicomdir"}, strings.ToLower(name))
}

// isText reports whether a file without an extension has a usual name of a text.
func isText(path string) bool {
	return slices.Contains([]string{"readme", "license", "version"}, strings.ToLower(filepath.Base(path)))
}

// extension returns the lower-case extension of a name without that of a compression. A number is none, as the last of
// a DICOM identifier.
func extension(path string) string {
	_, inner, ok := wrapping(path, nil)
	if !ok {
		inner = path
	}
	ext := strings.ToLower(filepath.Ext(inner))
	if strings.Trim(ext, ".0123456789") == "" {
		return ""
	}
	return ext
}

// dicomFormat returns the format of DICOM files.
func dicomFormat() format.Format {
	formats := fileFormats()
	return formats[slices.IndexFunc(formats, func(f format.Format) bool { return f.Name == dicom.Name })]
}

// hasDicomName reports whether a file has an extension of DICOM, compressed or not.
func hasDicomName(path string) bool {
	return slices.Contains(dicomFormat().Extensions, extension(path))
}

// isDicom reports whether a file starts with the first bytes of DICOM, compressed or not.
func isDicom(path string) bool {
	f, info, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // only read from
	head := make([]byte, format.MatchedBytes)
	n, _ := f.ReadAt(head, 0) // the file may be shorter
	if p, _, ok := wrapping("", head[:n]); ok {
		r, err := p.Open(bufio.NewReader(io.NewSectionReader(f, 0, info.Size())), info.Size())
		if err != nil {
			return false
		}
		n, _ = io.ReadFull(r, head)
	}
	return dicomFormat().Matches(head[:n])
}

// slicesFiles returns the files of slices, and the files that their headers name.
func slicesFiles(slices []string, o format.Options) (files []string) {
	for _, s := range slices {
		files = append(files, Files(s, o)...)
	}
	return files
}

// describeSkipped lists the other files of a stack's folder, apart from the files that a header of a slice names; ""
// for none.
func describeSkipped(others, files []string, o format.Options) string {
	if len(others) == 0 {
		return ""
	}
	if used := slicesFiles(files[:1], o); len(used) > 1 { // other files of this format have companions too
		used = slicesFiles(files, o)
		others = slices.DeleteFunc(others, func(name string) bool { return slices.Contains(used, name) })
	}
	if len(others) == 0 {
		return ""
	}
	const most = 12
	var text []string
	for i, name := range others {
		if i == most {
			text = append(text, "…")
			break
		}
		shown := fmt.Sprintf("%.40q", filepath.Base(name))
		if f := foreignFormatOf(name, nil); f != nil {
			shown += fmt.Sprintf(" (%s is not read)", f.name)
		}
		text = append(text, shown)
	}
	return fmt.Sprintf("skipped %d in the folder: %s", len(others), strings.Join(text, ", "))
}
