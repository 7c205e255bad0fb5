package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"eccbench/impls"
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

// The help of every command fits 80 columns, begins with a line of at most 60, and has examples before
// the groups of flags.
func TestHelpFits(t *testing.T) {
	commands := [][]string{{"--help"}}
	for _, s := range subcommands() {
		if !s.Hidden {
			commands = append(commands, []string{s.Name, "--help"})
		}
	}
	for _, args := range commands {
		var help bytes.Buffer
		if code := eccbench(&cli.Program{Set: impls.All(impls.Devices()), Stdout: &help, Stderr: &help}, args); code != cli.ExitOK {
			t.Fatalf("%s: exit code %d", args, code)
		}
		for k, line := range strings.Split(help.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > 80 || k == 0 && n > 60 {
				t.Errorf("%s: %d columns: %s", args, n, line)
			}
		}
		_, after, found := strings.Cut(help.String(), "\nExamples:\n")
		flags := regexp.MustCompile(`\n  (-\w,|   ) --`)
		groups := regexp.MustCompile(`\n(Input|Question|Output|Machine):` + flags.String())
		if !found || flags.MatchString(after) && !groups.MatchString(after) {
			t.Errorf("%s: no examples, or no group of flags after them", args)
		}
	}
}

// cells returns the cells of a table row.
func cells(row string) (list []string) {
	for _, c := range strings.Split(strings.Trim(row, "|"), "|") {
		list = append(list, strings.TrimSpace(c))
	}
	return list
}
