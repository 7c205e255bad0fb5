package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"eccbench/internal/cli"
)

// The table of options in doc/conventions.md has exactly the flags of each question.
func TestOptionsOfQuestions(t *testing.T) {
	page, err := os.ReadFile("../../doc/conventions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "\n## Options\n")
	if !found {
		t.Fatal("doc/conventions.md has no table of options")
	}
	var lines []string
	for _, line := range strings.Split(after, "\n") {
		if strings.HasPrefix(line, "|") {
			lines = append(lines, line)
		} else if len(lines) > 0 {
			break
		}
	}
	columns := cells(lines[0])
	checked := 0
	for k, command := range columns[1:] {
		var help bytes.Buffer
		if code := eccbench(&cli.Program{Stdout: &help, Stderr: &help}, []string{command, "--help"}); code != cli.ExitOK {
			t.Fatalf("%s --help: exit code %d", command, code)
		}
		for _, line := range lines[2:] {
			row := cells(line)
			for _, flag := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(row[0], -1) {
				takes := regexp.MustCompile(flag[1] + "[ \n]").MatchString(help.String())
				if says := row[k+1] != "—"; takes != says {
					t.Errorf("%s: doc/conventions.md has %q for %s, and the command takes it: %v", command, row[k+1], flag[1], takes)
				}
				checked++
			}
		}
	}
	if checked < 40 {
		t.Errorf("%d cells were checked", checked)
	}
}

// cells returns the cells of a table row.
func cells(row string) (list []string) {
	for _, c := range strings.Split(strings.Trim(row, "|"), "|") {
		list = append(list, strings.TrimSpace(c))
	}
	return list
}
