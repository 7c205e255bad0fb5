package datasets

import (
	"fmt"
	"slices"
	"strings"
)

// A Name is a parsed input string, GENERATOR/key=value/key=value…; the order
// of the keys is free, except that path comes last and holds the rest of the
// string, slashes and all.
type Name struct {
	Generator string
	given     []pair
}

type pair struct{ key, value string }

// ParseName reads an input string. It is an error, of one line, when the
// generator or a key is unknown, a key is given twice, a required one is
// missing or a value is impossible. No file is looked at.
func ParseName(s string) (Name, error) {
	n, err := split(s)
	if err != nil {
		return Name{}, err
	}
	if _, err := resolve(n); err != nil {
		return Name{}, err
	}
	return n, nil
}

func split(s string) (Name, error) {
	generator, rest, more := strings.Cut(s, "/")
	n := Name{Generator: generator}
	for more {
		var item string
		if strings.HasPrefix(rest, "path=") {
			item, rest, more = rest, "", false
		} else {
			item, rest, more = strings.Cut(rest, "/")
		}
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" {
			return Name{}, fmt.Errorf("input %q: %q is not key=value", s, item)
		}
		if slices.ContainsFunc(n.given, func(p pair) bool { return p.key == key }) {
			return Name{}, fmt.Errorf("input %q: %s is given twice", s, key)
		}
		n.given = append(n.given, pair{key, value})
	}
	return n, nil
}

// String is the canonical spelling: the generator's own order of keys, every
// parameter that has a value spelled out, defaults too, and numbers in their
// shortest form. Names that say the same have equal strings. A Name that With
// made impossible is spelled as it was given.
func (n Name) String() string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	var b strings.Builder
	b.WriteString(n.Generator)
	for _, p := range pairs {
		b.WriteString("/" + p.key + "=" + p.value)
	}
	return b.String()
}

// Get is the value of a parameter as String spells it, a default where none
// was given, and "" for a parameter without a value.
func (n Name) Get(key string) string {
	pairs := n.given
	if r, err := resolve(n); err == nil {
		pairs = r.canonical
	}
	return find(pairs, key)
}

// With is the name with one parameter set, or taken out when value is "". The
// defaults of the others follow: a noise without levels has 256 of them after
// With("type", "uint8"). Nothing is checked before the name is opened.
func (n Name) With(key, value string) Name {
	given := slices.Clone(n.given)
	at := slices.IndexFunc(given, func(p pair) bool { return p.key == key })
	switch {
	case at >= 0 && value == "":
		given = slices.Delete(given, at, at+1)
	case at >= 0:
		given[at].value = value
	case value != "":
		given = append(given, pair{key, value})
	}
	// What follows path= would be read as part of it.
	slices.SortStableFunc(given, func(a, b pair) int {
		switch {
		case a.key == "path" && b.key != "path":
			return 1
		case a.key != "path" && b.key == "path":
			return -1
		}
		return 0
	})
	return Name{Generator: n.Generator, given: given}
}

// Canonical is the canonical spelling of an input string, see Name.String, or
// an error of one line.
func Canonical(s string) (string, error) {
	n, err := ParseName(s)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}

func find(pairs []pair, key string) string {
	for _, p := range pairs {
		if p.key == key {
			return p.value
		}
	}
	return ""
}
