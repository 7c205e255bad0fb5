package main

import (
	"errors"
	"strings"
	"testing"
)

const help = `eccbench measures.

Usage:
  eccbench [run] [flags]

Commands:
  curve FILE...      print the curve
  help COMMAND       show the flags

Exit codes: 0 ok, 1 this machine failed.

Examples:
  eccbench verify
`

const curve = `Print the curve of an image.

Usage:
  eccbench curve FILE... [flags]

Examples:
  eccbench curve scan.nii.gz

Question:
      --all               a row for every level
      --at numbers        χ at 'these'
                          values: all

Output:
  -o, --out-of-the-way string
                          write to this file
      --threads int       cores (default 2)

More examples:
  eccbench curve 'ct/*.tif'
`

// The pages and completions have every command, flag and example of the help, escaped.
func TestManuals(t *testing.T) {
	commands, err := read(help, func(args ...string) (string, error) {
		if args[0] != "curve" {
			return "", errors.New("asked for " + args[0])
		}
		return curve, nil
	})
	if err != nil || len(commands) != 1 || len(commands[0].flags) != 4 {
		t.Fatalf("%+v, %v", commands, err)
	}
	for name, text := range map[string][2]string{
		"man": {commands[0].page("eccbench v1"), `.TH "ECCBENCH-CURVE" 1|eccbench\-curve \- print the curve of an image|` +
			`\fB\-o, \-\-out\-of\-the\-way\fR \fIstring\fR|cores (default all)|eccbench curve 'ct/*.tif'`},
		"overview": {overview(help, "eccbench v1", commands), `eccbench\-curve (1)|0 ok, 1 this machine failed`},
		"bash":     {bash(commands), `curve) words='--all --at --out-of-the-way --threads'`},
		"zsh":      {zsh(commands), `'--at=[χ at '\''these'\'' values\: all]:numbers:_files'|'curve:Print`},
		"fish": {fish(commands), `-l out-of-the-way -s o -r -d 'write to this file'|` +
			`-l at -r -d 'χ at \'these\' values: all'`},
	} {
		for want := range strings.SplitSeq(text[1], "|") {
			if !strings.Contains(text[0], want) {
				t.Errorf("%s lacks %q:\n%s", name, want, text[0])
			}
		}
	}
	if _, err := parse("curve", strings.Replace(curve, "--all", "all", 1)); err == nil {
		t.Error("a line that is no flag is taken")
	}
}
