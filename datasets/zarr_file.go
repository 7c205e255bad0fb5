package datasets

import (
	"eccbench/internal/grid"
	"eccbench/internal/regular"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// isRemoteZarr reports whether a URL denotes a Zarr array or group.
func isRemoteZarr(url string) bool {
	raw := slices.ContainsFunc(fileFormats()[0].extensions, func(ext string) bool { return strings.HasSuffix(strings.ToLower(url), ext) })
	return network != nil && !raw && !IsImage(url) && !isMetadata(url) && isRemoteHierarchy(url)
}

// Stat returns the FileInfo of the file or the object at a path.
func Stat(name string) (FileInfo, error) {
	if !IsURL(name) {
		info, err := os.Stat(name)
		if err != nil {
			return FileInfo{}, pathCause(err)
		}
		return FileInfo{info.Size(), fmt.Sprint(info.ModTime().UnixNano()), info.IsDir() && !IsZarr(name)}, nil
	}
	if network == nil {
		return FileInfo{}, errNoNetwork
	}
	if IsZarr(name) {
		return FileInfo{}, nil
	}
	size, version, err := network.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("no such object; check the URL")
	}
	return FileInfo{Size: size, Version: version}, err
}

// CoolFile evicts a file from the host's page cache, and reports whether it did.
func CoolFile(path string) (cold bool, err error) {
	if IsURL(path) || isMetadata(path) { // the voxels are in other files
		return false, nil
	}
	f, _, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close() // only evicted
	return dropPages(f)
}

// IsZarr reports whether a path is that of a Zarr array or group.
func IsZarr(path string) bool {
	if IsURL(path) {
		return isRemoteZarr(path)
	}
	return isZarrFolder(path)
}

// zarrExtension is the usual extension of the folders of hierarchies.
const zarrExtension = ".zarr"

// isZarrName reports whether a path has the extension of a Zarr hierarchy, even if nothing exists
// there.
func isZarrName(path string) bool {
	path = strings.TrimRight(strings.ToLower(path), "/")
	return strings.HasSuffix(path, zarrExtension) && path != zarrExtension
}

// describeZarrPath describes the image in a Zarr folder. The metadata become files of the set.
func describeZarrPath(s *fileSet, path string, o FileOptions) (*fileBody, error) {
	if IsURL(path) && network == nil {
		return nil, errNoNetwork
	}
	if IsURL(path) {
		return describeZarr(objects{path, s}, o)
	}
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; check the path", pathCause(err))
	} else if !info.IsDir() {
		return nil, errors.New("a Zarr hierarchy is a folder, and this is none; unpack it to one")
	}
	kept := &metadata{folder: folder(path), files: s}
	return describeZarr(kept, o)
}

// describeZarr describes the image in a Zarr hierarchy. It is the array itself, the array in the
// options, the finest level of an OME-NGFF image, or the only array of a group.
func describeZarr(s store, o FileOptions) (*fileBody, error) {
	switch {
	case o.Levels < 0 || o.Levels > grid.MaxLevels:
		return nil, levelsError(o.Levels)
	case o.Shape != (grid.Shape{}) || o.typed():
		return nil, errors.New("a Zarr array says its own shape and type; leave them out")
	}
	node, err := findArray(s, o.Array)
	if err != nil {
		return nil, err
	}
	a := node.array
	b := &fileBody{stored: a.stored, truth: a.truth, big: a.big(), in: fileInput{ReaderAt: a, size: a.bytes(), FileOptions: o}}
	if err := frameZarr(node, b, o); err != nil {
		return nil, err
	}
	if total := b.bytes(); !o.Stream && o.Memory == 0 && total > mostUnlimited {
		return nil, fmt.Errorf("%d bytes of voxels, more than fit into memory", total)
	}
	return b, a.prepare(b.shape, o.Memory, o.Strict)
}

// mostUnlimited is the greatest size in memory of an array that may have no stored chunks, if no
// limit is given.
const mostUnlimited = 1 << 40

// frameZarr assigns an array's axes. Space axes belong to the image, and all others count volumes. The
// options select a volume by its number or by its channel.
func frameZarr(n *zarrNode, b *fileBody, o FileOptions) error {
	shape, axes := n.array.shape, n.axes()
	space := slices.IndexFunc(axes, func(a axis) bool { return a.Type == "space" })
	channel := slices.IndexFunc(axes, func(a axis) bool { return a.Type == "channel" })
	var within []int64 // the space axes
	if space >= 0 {
		for i, a := range axes[space:] {
			switch {
			case a.Type == "space":
				within = append(within, shape[space+i])
			case shape[space+i] > 1:
				return fmt.Errorf("axes %v, of which %q comes after those of space; want them last", shape, a.Name)
			}
		}
	}
	in := fileInput{FileOptions: o}
	if channel >= 0 && channel < space {
		var err error
		if in.Volume, err = channelVolume(o, n.channelNames(), shape[:space], channel); err != nil {
			return err
		}
	} else if o.Channel != "" {
		return errors.New("its metadata name no axis of channels; leave --channel out, or choose by --volume")
	}
	var err error
	if space < 0 {
		err = b.frameUnlabelled(shape, in)
	} else { // a space axis counts whatever its length is
		err = b.choose(shape[:space], within, 1, in)
	}
	if err != nil {
		return fmt.Errorf("array of shape %v: %w", shape, err)
	}
	return nil
}

// channelVolume returns the number of the volume that the options select by channel or number. axes
// are the axes that count volumes, and at is the index of the channel axis. Channels may have
// names.
func channelVolume(o FileOptions, names []string, axes []int64, at int) (*int64, error) {
	count, each := axes[at], product(axes[at+1:])
	if o.Channel == "" {
		if len(names) > 1 && count > 1 && o.Volume == nil {
			return nil, fmt.Errorf("%d channels; choose one with --channel, or channel=NAME in an input string: %s", count, listOf(names))
		}
		return o.Volume, nil
	}
	channel := int64(slices.Index(names, o.Channel))
	number, err := strconv.ParseInt(o.Channel, 10, 64)
	switch isNumber := err == nil && number >= 0 && number < count; {
	case channel >= 0 && slices.Contains(names[channel+1:], o.Channel):
		return nil, fmt.Errorf("several channels are called %.80q; choose one by its number, 0..%d", o.Channel, count-1)
	case channel >= 0 && isNumber && number != channel:
		return nil, fmt.Errorf("channel %d is called %.80q, which is the number of another; choose one by --volume", channel, o.Channel)
	case channel < 0 && isNumber:
		channel = number
	}
	if channel < 0 || channel >= count {
		which := fmt.Sprintf("want 0..%d", count-1)
		if len(names) > 0 {
			which += ", or one of " + listOf(names)
		}
		return nil, fmt.Errorf("there is no channel %.80q; %s", o.Channel, which)
	}
	// The other axes, such as time, are counted without the channels.
	others, other := product(axes[:at])*each, int64(0)
	switch {
	case o.Volume != nil:
		other = *o.Volume
	case others > 1:
		return nil, fmt.Errorf("%d volumes of each channel; choose one with --volume 0..%d, or volume=N in an input string", others, others-1)
	}
	if other < 0 || other >= others {
		return nil, fmt.Errorf("there is no volume %d of the %d of each channel; want --volume 0..%d", other, others, others-1)
	}
	v := (other/each*count+channel)*each + other%each
	return &v, nil
}
