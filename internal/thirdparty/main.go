// Command thirdparty writes the licences of all modules that are compiled into programs of this project, or the bill
// of materials of one program:
//
//	go run ./internal/thirdparty > THIRD_PARTY
//	go run ./internal/thirdparty -sbom PROGRAM > PROGRAM.cdx.json
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 1:
		err = licences(os.Stdout)
	case len(os.Args) == 3 && os.Args[1] == "-sbom":
		err = bill(os.Stdout, os.Args[2])
	default:
		err = errors.New("usage: thirdparty [-sbom PROGRAM]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "thirdparty:", err)
		os.Exit(1)
	}
}

// platforms have programs or wheels.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"}

// A module is code of others, and the files with its licences.
type module struct {
	path, version, dir string
	files              map[string]bool
}

// licences writes the licences of all modules, and of Go, whose library and runtime are in every program.
func licences(w io.Writer) error {
	modules, err := compiledIn()
	if err != nil {
		return err
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	root := strings.TrimSpace(string(out))
	modules = append(modules, &module{path: "go (standard library and runtime)", dir: root,
		files: map[string]bool{filepath.Join(root, "LICENSE"): true}})
	fmt.Fprintf(w, "The programs and wheels of this project contain code of the modules below, under these licences.\n"+
		"Written by make third-party.\n\n")
	owners := map[string][]string{} // the modules of each text
	var order []string
	for _, m := range modules {
		var kinds []string
		for _, name := range slices.Sorted(maps.Keys(m.files)) {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			more, err := kindsOf(string(text))
			if err != nil {
				return fmt.Errorf("%s: %s: %w", m.path, filepath.Base(name), err)
			}
			for _, kind := range more {
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
			}
			body := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			if owners[body] == nil {
				order = append(order, body)
			}
			if !slices.Contains(owners[body], m.path) {
				owners[body] = append(owners[body], m.path)
			}
		}
		if len(kinds) == 0 {
			return fmt.Errorf("%s: no licence in %s", m.path, m.dir)
		}
		fmt.Fprintf(w, "%-48s %-14s %s\n", m.path, cmp.Or(m.version, "-"), strings.Join(kinds, ", "))
	}
	for _, body := range order {
		fmt.Fprintf(w, "\n%s\n%s\n%s\n\n%s\n",
			strings.Repeat("=", 80), strings.Join(owners[body], "\n"), strings.Repeat("-", 80), body)
	}
	return nil
}

// licenceFile matches the names of files that hold a licence, or are to go with one.
var licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents)([-.].*)?$`)

// compiledIn returns the modules whose packages the programs contain on any platform. Each has the licences in the
// folders of these packages and in the folders above them.
func compiledIn() (list []*module, err error) {
	by := map[string]*module{}
	for _, p := range platforms {
		goos, goarch, _ := strings.Cut(p, "/")
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}",
			"./cmd/eccbench", "./cmd/libeccbench")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%v: %w: %s", cmd.Args, err, stderr.Bytes())
		}
		for line := range strings.Lines(string(out)) {
			f := strings.Split(strings.TrimSpace(line), "\t")
			if len(f) != 4 {
				continue
			}
			m := by[f[0]]
			if m == nil {
				m = &module{f[0], f[1], f[2], map[string]bool{}}
				by[f[0]] = m
				list = append(list, m)
			}
			for dir := f[3]; strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
				if err := m.add(dir); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b *module) int { return cmp.Compare(a.path, b.path) })
	return list, nil
}

// add adds the licences in a folder.
func (m *module) add(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Type().IsRegular() && licenceFile.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
			m.files[filepath.Join(dir, e.Name())] = true
		}
	}
	return err
}

// licenceTexts are phrases of each licence, by its name; "" for phrases of a notice or a grant of
// patents.
var licenceTexts = []struct{ name, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Apache-2.0", "Licensed under the Apache License, Version 2.0"},
	{"BSD", "Redistribution and use in source and binary forms"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
	{"", "Copyright"},
	{"", "hereby grants to You a perpetual"},
}

// kindsOf returns the names of the licences in a text. An unknown licence is an error, and so is
// one that requires source code.
func kindsOf(text string) (kinds []string, err error) {
	words := strings.Join(strings.Fields(text), " ")
	known := false
	for _, l := range licenceTexts {
		if strings.Contains(words, l.words) {
			if known = true; l.name != "" && !slices.Contains(kinds, l.name) {
				kinds = append(kinds, l.name)
			}
		}
	}
	if !known || strings.Contains(words, "GENERAL PUBLIC LICENSE") || strings.Contains(words, "Mozilla Public License") {
		return nil, errors.New("a licence that is not known, or that asks for source; " +
			"see whether the programs may contain it")
	}
	return kinds, nil
}

// A component is one of the parts of a CycloneDX bill of materials.
type component struct {
	Type       string              `json:"type"`
	Name       string              `json:"name"`
	Version    string              `json:"version"`
	PURL       string              `json:"purl,omitempty"`
	Hashes     []map[string]string `json:"hashes,omitempty"`
	Properties []map[string]string `json:"properties,omitempty"`
}

// bill writes the bill of materials of a program, as CycloneDX 1.5, from its build information.
func bill(w io.Writer, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	whole := component{Type: "application", Name: filepath.Base(program), Version: info.Main.Version,
		Hashes: []map[string]string{{"alg": "SHA-256", "content": hex.EncodeToString(sum[:])}}}
	for _, s := range info.Settings {
		whole.Properties = append(whole.Properties, map[string]string{"name": "go:" + s.Key, "value": s.Value})
	}
	version := strings.TrimPrefix(info.GoVersion, "go")
	parts := []component{{Type: "library", Name: "std", Version: version, PURL: "pkg:golang/std@" + version}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		parts = append(parts, component{Type: "library", Name: m.Path, Version: m.Version,
			PURL: "pkg:golang/" + m.Path + "@" + m.Version, Properties: []map[string]string{{"name": "go:h1", "value": m.Sum}}})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"metadata": map[string]any{"component": whole}, "components": parts,
	})
}
