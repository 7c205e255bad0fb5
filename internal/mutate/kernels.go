package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	spaced    = regexp.MustCompile(` (<=|>=|<|>|==|!=|&&|\|\||\+|-|\*|/|%|<<|>>|&|\|) `)
	number    = regexp.MustCompile(`\b[0-9]+\b`)
	extremum  = regexp.MustCompile(`\b(min|max)(\w*)\(`)
	statement = regexp.MustCompile(`^\s+(?:[a-z_][\w.:>\[\]-]*(?: [+*&|^/-]?=|(?:<\w+>)?\().*|continue|break|[\w.\[\]]+(?:\+\+|--));$`)
	cSwaps    = map[string]string{
		"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
		"*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&",
	}
)

// kernelMutants returns all mutants of the kernels in a folder that have tests.
func kernelMutants(root, folder string) ([]*Mutant, error) {
	var all []*Mutant
	for name := range kernelTests {
		if path.Dir(name) != folder {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		all = append(all, kernelWithin(string(text), name)...)
	}
	return all, nil
}

// kernelWithin returns the mutants of a kernel, line by line. It does not parse the text, so some
// do not compile.
func kernelWithin(text, name string) []*Mutant {
	var all []*Mutant
	at := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		from := at
		at += len(line)
		code, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "//")
		if trimmed := strings.TrimSpace(code); trimmed == "" || begins(trimmed, "#", "template", "static_assert") ||
			strings.Contains(code, `asm`) {
			continue
		}
		add := func(operator string, start, end int, with string) {
			m := newMutant(text, name, "", operator, edit{from + start, from + end, with})
			m.Target = path.Dir(name)
			all = append(all, m)
		}
		for _, m := range spaced.FindAllStringSubmatchIndex(code, -1) {
			op := code[m[2]:m[3]]
			operator := "arithmetic"
			switch op {
			case "<", "<=", ">", ">=", "==", "!=":
				operator = "relation"
			case "&&", "||":
				operator = "logic"
			}
			add(operator, m[2], m[3], cSwaps[op])
		}
		for _, m := range number.FindAllStringIndex(code, -1) {
			add("constant", m[0], m[1], "("+code[m[0]:m[1]]+" + 1)")
		}
		for _, m := range extremum.FindAllStringSubmatchIndex(code, -1) {
			add("min and max", m[2], m[3], map[string]string{"min": "max", "max": "min"}[code[m[2]:m[3]]])
		}
		if statement.MatchString(code) && !strings.Contains(code, " return ") {
			indent := len(code) - len(strings.TrimLeft(code, " "))
			add("deletion", indent, len(code), ";")
		}
	}
	return all
}

// uncompiled reports whether the output of a test is an error of the kernel compiler, which quotes
// its arguments (kernels/hosttest).
func uncompiled(output string) bool { return strings.Contains(output, "-DON_HOST") }
