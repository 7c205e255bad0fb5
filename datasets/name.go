package datasets

import (
	"errors"
	"slices"

	"eccbench/internal/name"
)

// A Name is a parsed input string, GENERATOR/key=value/key=value…. Keys may be in any order, except
// that path is last and includes the rest of the string with its slashes.
type Name struct {
	Generator string
	given     []name.Pair
}

// ParseName parses an input string. Its one-line error reports an unknown generator or key, a
// repeated key, a missing required key, or an invalid value. It opens no file.
func ParseName(input string) (Name, error) {
	n, err := split(input)
	if err == nil {
		err = n.Check()
	}
	if err != nil {
		return Name{}, err
	}
	return n, nil
}

func split(input string) (Name, error) {
	n, err := name.Parse(input)
	return Name{n.Kind, n.Pairs}, err
}

// FileName returns the name of the image in a file, which With can describe further. Check reports errors.
func FileName(path string) Name { return Name{"file", []name.Pair{{Key: name.Path, Value: path}}} }

// StackName returns the name of the volume of 2D images in a folder, or with names of a pattern.
func StackName(path string) Name { return Name{"stack", []name.Pair{{Key: name.Path, Value: path}}} }

// IsZero reports whether the name is the zero value, which names no image.
func (n Name) IsZero() bool { return n.Generator == "" }

// Check returns the error of ParseName for the name.
func (n Name) Check() error {
	_, err := resolve(n)
	return err
}

// String returns the canonical spelling. Keys are in the generator's order, and every parameter
// with a value is spelled out, including defaults. Numbers are in their shortest form. Equal images
// have equal strings. A Name that With made invalid is spelled as it was given.
func (n Name) String() string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	return name.Name{Kind: n.Generator, Pairs: pairs}.String()
}

// Get returns the value of a parameter as String spells it: a default if none was given, and "" for
// a parameter without a value.
func (n Name) Get(key string) string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	return find(pairs, key)
}

// With returns the name with one parameter set, or removed if value is "". The defaults of the
// others follow: a noise without levels has 256 of them after With("type", "uint8"). The result is
// checked when it is opened.
func (n Name) With(key, value string) Name {
	with := name.Name{Kind: n.Generator, Pairs: n.given}.With(key, value)
	return Name{with.Kind, with.Pairs}
}

// FromFiles reports whether the image is read from a user's files.
func (n Name) FromFiles() bool {
	return slices.ContainsFunc(generators(), func(g generator) bool { return g.Name == n.Generator && g.FromFiles })
}

// Canonical returns the canonical spelling of an input string, see Name.String, or an error of one
// line.
func Canonical(s string) (string, error) {
	n, err := ParseName(s)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}

func find(pairs []name.Pair, key string) string {
	v, _ := name.Name{Pairs: pairs}.Get(key)
	return v
}

// GivenName returns the name of an input string, or of the file at a path. is reports whether it is an input string.
func GivenName(input string) (n Name, is bool, err error) {
	n, err = split(input)
	if len(n.given) == 0 || errors.Is(err, name.ErrForm) ||
		!slices.ContainsFunc(generators(), func(g generator) bool { return g.Name == n.Generator }) {
		return FileName(input), false, nil
	}
	if err == nil {
		err = n.Check()
	}
	return n, true, err
}

// IsName reports whether a text is an input string and not the path of a file, such as noise/scan.npy.
func IsName(input string) bool {
	_, is, _ := GivenName(input)
	return is
}
