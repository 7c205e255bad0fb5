package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/datasets/zarr"
	"eccbench/internal/grid"
	"eccbench/internal/regular"
)

// isRemoteZarr reports whether a URL denotes a Zarr array or group.
func isRemoteZarr(url string) bool {
	raw := fileFormats()[0].HasExtension(strings.ToLower(url))
	return storage.Servers != nil && !raw && !IsImage(url) && !zarr.IsMetadata(url) && zarr.CheckRemote(url) == nil
}

// Stat returns the FileInfo of the file or the object at a path.
func Stat(name string) (storage.FileInfo, error) {
	if name == "" {
		return storage.FileInfo{}, errors.New("the name of the file is empty")
	}
	if !storage.IsURL(name) {
		info, err := os.Stat(name)
		if err != nil {
			return storage.FileInfo{}, storage.Cause(err)
		}
		return storage.FileInfo{Size: info.Size(), Version: fmt.Sprint(info.ModTime().UnixNano()),
			Folder: info.IsDir() && !IsZarr(name)}, nil
	}
	if storage.Servers == nil {
		return storage.FileInfo{}, storage.ErrNoNetwork
	}
	if IsZarr(name) {
		return storage.FileInfo{}, nil
	}
	size, version, err := storage.Servers.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && isZarrName(name) { // its metadata may be there, but not for everybody
		err = zarr.CheckRemote(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = storage.ErrNoObject
	}
	return storage.FileInfo{Size: size, Version: version}, err
}

// CoolFile evicts a file from the host's page cache, and reports whether it did.
func CoolFile(path string) (cold bool, err error) {
	if storage.IsURL(path) || zarr.IsMetadata(path) { // the voxels are in other files
		return false, nil
	}
	f, _, err := regular.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close() // only evicted
	return storage.DropPages(f)
}

// IsZarr reports whether a path is that of a Zarr array or group.
func IsZarr(path string) bool {
	if storage.IsURL(path) {
		return isRemoteZarr(path)
	}
	return zarr.IsFolder(path)
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
func describeZarrPath(s *storage.Set, path string, o format.Options) (*format.Body, error) {
	if storage.IsURL(path) && storage.Servers == nil {
		return nil, storage.ErrNoNetwork
	}
	if storage.IsURL(path) {
		return describeZarr(zarr.Objects{URL: path, Files: s}, o)
	}
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; check the path", storage.Cause(err))
	} else if !info.IsDir() {
		return nil, errors.New("a Zarr hierarchy is a folder, and this is none; unpack it to one")
	}
	kept := &zarr.Metadata{Folder: zarr.Folder(path), Files: s}
	return describeZarr(kept, o)
}

// describeZarr describes the image in a Zarr hierarchy. It is the array itself, the array in the
// options, the finest level of an OME-NGFF image, or the only array of a group.
func describeZarr(s zarr.Store, o format.Options) (*format.Body, error) {
	switch {
	case o.Levels < 0 || o.Levels > grid.MaxLevels:
		return nil, format.LevelsError(o.Levels)
	case o.Shape != (grid.Shape{}) || o.Typed():
		return nil, errors.New("a Zarr array has its own shape and type; leave them out")
	}
	node, err := zarr.Find(s, o.Array)
	if err != nil {
		return nil, err
	}
	a := node.Array
	b := &format.Body{Format: "Zarr", Stored: a.Stored, Truth: a.Truth, Big: a.Big(),
		In: format.Input{ReaderAt: a, Size: a.Bytes(), Options: o}}
	if err := decodeZarr(node, b); err != nil {
		return nil, err
	}
	order, err := frameZarr(node, b, o)
	if err != nil {
		return nil, err
	}
	if total := b.Bytes(); !o.Stream && o.Memory == 0 && total > mostUnlimited {
		return nil, fmt.Errorf("%d bytes of voxels, more than fit into memory", total)
	}
	if err := a.Prepare(b.Shape, o.Memory, o.Strict); err != nil || order == nil {
		return b, err
	}
	return b, b.Permute(order)
}

// decodeZarr sets the scale of the voxels, and the values of those without one.
func decodeZarr(n *zarr.Node, b *format.Body) error {
	p, err := n.Packing()
	if err != nil {
		return err
	}
	b.SetScales([]format.Scale{{Slope: p.Slope, Inter: p.Inter}})
	b.Blank = format.Blank{Name: p.Fields, Bits: p.Blank}
	return nil
}

// mostUnlimited is the greatest size in memory of an array that may have no stored chunks, if no
// limit is given.
const mostUnlimited = 1 << 40

// frameZarr assigns an array's axes. Axes of space belong to the image, and all others count volumes.
// The options select a volume by its number or by its channel. order is for Permute, nil if the
// axes of space are z, y, x.
func frameZarr(n *zarr.Node, b *format.Body, o format.Options) (order []int64, err error) {
	outer, space, inner, err := format.SplitAxes(zarrAxes(n))
	for _, a := range inner {
		if a.Length > 1 {
			err = fmt.Errorf("its axis %q comes after those of space; want those last", a.Name)
		}
	}
	in := format.Input{Options: o}
	channel := slices.IndexFunc(outer, func(a format.Axis) bool { return a.Kind == format.ChannelAxis })
	if err == nil && channel >= 0 {
		if in.Volume, err = format.ChannelVolume(o, n.ChannelNames(), format.Lengths(outer), channel); err != nil {
			return nil, err
		}
	} else if err == nil && o.Channel != "" {
		return nil, errors.New("its metadata name no axis of channels; leave channel out, or choose by volume")
	}
	if err == nil && space == nil {
		err = b.FrameUnlabelled(n.Array.Shape, in)
	} else if err == nil { // an axis of space counts whatever its length is
		if err = b.Choose(format.Lengths(outer), format.Lengths(space), 1, in); err == nil {
			order, err = format.SpaceOrder(space)
		}
		for _, a := range outer {
			if err != nil && a.Kind == format.UnknownAxis && a.Length > 1 {
				err = fmt.Errorf("%w; its axis %q counts volumes: if it is of space, name it x, y or z", err, a.Name)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("array of shape %v: %w", n.Array.Shape, err)
	}
	return order, nil
}

// zarrAxes returns the axes of an array, nil without names.
func zarrAxes(n *zarr.Node) (axes []format.Axis) {
	kinds := map[string]format.AxisKind{"space": format.SpaceAxis, "channel": format.ChannelAxis}
	for i, a := range n.Axes() {
		kind, known := kinds[a.Type]
		switch {
		case a.Type == "":
			kind = format.AxisKindOf(a.Name)
		case !known:
			kind = format.OtherAxis
		}
		axes = append(axes, format.Axis{Name: a.Name, Kind: kind, Length: n.Array.Shape[i]})
	}
	return axes
}
