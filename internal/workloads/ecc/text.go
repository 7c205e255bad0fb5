package ecc

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"eccbench/internal/grid"
)

// A Format is a way to write a curve.
type Format string

// The formats. Levels are written as the values they stand for.
const (
	CSV   Format = "csv"   // level,change,chi
	JSON  Format = "json"  // the same with the image's description and the convention
	Euler Format = "euler" // "value χ" for every level, as CHUNKYEuler writes .euler files
	SoCG  Format = "socg"  // "value χ" where χ changes, as the SoCG 2022 code writes it
)

// Formats lists every format.
func Formats() []Format { return []Format{CSV, JSON, Euler, SoCG} }

// A Line is one level of a curve as it is written.
type Line struct {
	Level  float32 `json:"level"` // the value
	Change int64   `json:"change"`
	Chi    int64   `json:"chi"`
}

// Lines calls f with the levels of a curve in ascending order: those with a
// change, or all.
func Lines(v VCEC, l grid.Ladder, all bool, f func(Line) error) error {
	var chi int64
	at := 0
	emit := func(level int64) error {
		var change int64
		if at < len(v) && v[at].Level == level {
			change = v[at].Change
			at++
		}
		chi += change
		return f(Line{l.Value(level), change, chi})
	}
	if all {
		for level := range l.Len() {
			if err := emit(level); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range v {
		if err := emit(s.Level); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the curve of an image that the input string names.
func Write(w io.Writer, format Format, input string, in grid.Source, v VCEC, all bool) error {
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case JSON:
		err = writeJSON(out, input, in, v, all)
	case Euler, SoCG:
		err = Lines(v, in.Ladder(), format == Euler, func(l Line) error {
			_, err := fmt.Fprintf(out, "%s %d\n", value(l.Level), l.Chi)
			return err
		})
	default:
		fmt.Fprintln(out, "level,change,chi")
		err = Lines(v, in.Ladder(), all, func(l Line) error {
			_, err := fmt.Fprintf(out, "%s,%d,%d\n", value(l.Level), l.Change, l.Chi)
			return err
		})
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

func writeJSON(w io.Writer, input string, in grid.Source, v VCEC, all bool) error {
	lines := []Line{}
	err := Lines(v, in.Ladder(), all, func(l Line) error { lines = append(lines, l); return nil })
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Input        string `json:"input"`
		Shape        string `json:"shape"`
		Type         string `json:"type"`
		Ladder       string `json:"ladder"`
		Construction string `json:"construction"`
		Filtration   string `json:"filtration"`
		Curve        []Line `json:"curve"`
	}{input, in.Shape().String(), in.Type().String(), in.Ladder().String(), "T (voxels are top cells)", "sublevel, value <= level", lines})
}

// value writes a level in the fewest digits that read back as the same float32.
func value(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }
