package format

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"eccbench/datasets/storage"
)

// Companions opens the files that a header names, relative to its folder, as one file. It is their
// concatenation, each without its first skip bytes.
func (in Input) Companions(skip int64, names ...string) (Input, error) {
	if in.Files == nil {
		return in, fmt.Errorf("the header's data are in another file, %.80q; save both as one", names[0])
	}
	if url := in.Files.Files[0].Name(); storage.IsURL(url) {
		return in, fmt.Errorf("the header's data are in another object, %.80q; download both", names[0])
	}
	dir := filepath.Dir(in.Files.Files[0].Name())
	var chain Chain
	for _, name := range names {
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		f, size, err := in.Files.Open(path)
		if err == nil && size < skip {
			err = fmt.Errorf("truncated: %d bytes, of which %d are to be skipped; copy the file again", size, skip)
		}
		if err == nil && len(chain.parts) > 0 && size-skip != chain.ends[0] {
			err = fmt.Errorf("%d bytes after those to be skipped, where the first data file has %d; want files of one length",
				size-skip, chain.ends[0])
		}
		if err != nil {
			return in, fmt.Errorf("its data file %.200q: %w", name, err)
		}
		chain.Add(f, skip, size-skip)
	}
	data := in
	data.ReaderAt, data.Size, data.Held = chain, chain.Size(), nil
	return data, nil
}

// BesideFirst opens the first existing file with a stem and one of the endings.
func (in Input) BesideFirst(stem string, endings ...string) (Input, error) {
	dir := filepath.Dir(in.Files.Files[0].Name())
	for _, e := range endings {
		if _, err := os.Stat(filepath.Join(dir, stem+e)); err == nil {
			return in.Companions(0, stem+e)
		}
	}
	return in, fmt.Errorf("half of a pair: there is no %s%s beside it; copy it too", stem, endings[0])
}

// Stem returns the file name without its folder and one of the endings.
func (in Input) Stem(endings ...string) (stem string, ok bool) {
	if in.Files == nil {
		return "", false
	}
	name := filepath.Base(in.Files.Files[0].Name())
	for _, e := range endings {
		if n := len(name) - len(e); n > 0 && strings.EqualFold(name[n:], e) {
			return name[:n], true
		}
	}
	return "", false
}

// A Chain is the concatenation of parts of files.
type Chain struct {
	parts []*io.SectionReader
	ends  []int64
}

func (c *Chain) Add(f io.ReaderAt, from, n int64) {
	c.parts = append(c.parts, io.NewSectionReader(f, from, n))
	c.ends = append(c.ends, c.Size()+n)
}

func (c Chain) Size() int64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

func (c Chain) ReadAt(dst []byte, at int64) (n int, err error) {
	i := sort.Search(len(c.ends), func(i int) bool { return at < c.ends[i] })
	for ; i < len(c.parts) && n < len(dst); i++ {
		start := c.ends[i] - c.parts[i].Size()
		want := int(min(int64(len(dst)-n), c.ends[i]-at))
		k, err := c.parts[i].ReadAt(dst[n:n+want], at-start)
		n, at = n+k, at+int64(k)
		if k < want {
			return n, err
		}
	}
	if n < len(dst) {
		return n, io.EOF
	}
	return n, nil
}

// mostDataFiles exceeds the number of slices of any image.
const mostDataFiles = 1 << 16

var numberedName = regexp.MustCompile(`^([^%]*)%(0?[0-9]?)d([^%]*)$`)

// numberedNames returns the names of a pattern such as "ct%03d.raw" for the numbers from first to
// last. NRRD and MetaImage share this syntax.
func numberedNames(pattern string, first, last, step int64) ([]string, error) {
	if !numberedName.MatchString(pattern) {
		return nil, fmt.Errorf("the pattern of its data files is %.80q; want one number in it, such as %%03d", pattern)
	}
	if step == 0 || (last-first)/step < 0 || (last-first)/step >= mostDataFiles {
		return nil, fmt.Errorf("its data files are numbered from %d to %d by %d; want 1 to %d files",
			first, last, step, mostDataFiles)
	}
	var names []string
	for i := range (last-first)/step + 1 {
		names = append(names, fmt.Sprintf(pattern, first+i*step))
	}
	return names, nil
}

// DataFiles returns the file names in a header's field. The field is one name, a pattern with its
// first and last number and their step, or LIST, for the lines after it.
func DataFiles(field string, lines []string) ([]string, error) {
	words := strings.Fields(field)
	switch {
	case len(words) == 0:
		return nil, errors.New("the header names no data file; correct it")
	case words[0] == "LIST":
		if len(lines) == 0 {
			return nil, errors.New("the header lists no data files; correct it")
		}
		if len(lines) > mostDataFiles {
			return nil, fmt.Errorf("the header lists %d data files; want at most %d", len(lines), mostDataFiles)
		}
		return lines, nil
	case strings.Contains(words[0], "%") && len(words) >= 3:
		range_ := words[1:min(4, len(words))]
		n, err := WholeNumbers(strings.Join(range_, " "))
		if err != nil {
			return nil, fmt.Errorf("the numbers of its data files: %w", err)
		}
		return numberedNames(words[0], n[0], n[1], append(n, 1)[2])
	}
	return []string{field}, nil
}
