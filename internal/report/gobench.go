package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// GoBench writes the verified cells in the Go benchmark format for benchstat, one line per process.
// The configuration lines hold the conditions that comparable runs share: machine, device, scope,
// threads, instruction set and caches.
func GoBench(w io.Writer, recs bench.Records) error {
	out := benchfmt.NewWriter(w)
	units, stations := map[string]bool{}, recs.Stations()
	machine := map[string]bench.RunRecord{}
	for _, r := range recs.Runs {
		machine[r.ID] = r
	}
	for _, c := range recs.Cells {
		rate, _, _, ok := c.Rate()
		if !ok || c.Status != verify.Verified {
			continue
		}
		unit := c.Cost.Unit + "/s"
		time := string(c.Scope) + "-ns/op"
		for _, u := range [][2]string{{unit, "higher"}, {time, "lower"}} {
			if units[u[0]] {
				continue
			}
			units[u[0]] = true
			if err := out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: u[0], Key: "better"},
				OrigUnit: u[0], Value: u[1]}); err != nil {
				return err
			}
		}
		name := fmt.Sprintf("%s%s/impl=%s/%s/size=%s",
			strings.ToUpper(c.Workload[:1]), c.Workload[1:], c.Impl, c.Cost.Class, c.Cost.Size)
		r := &benchfmt.Result{
			Name:  benchfmt.Name(strings.Map(printable, name)),
			Iters: len(c.Samples),
			Values: []benchfmt.Value{
				{Value: rate, Unit: unit},
				{Value: c.Seconds.Median * 1e9, Unit: time},
			},
		}
		run := machine[c.Run]
		hot := ""
		if c.Hot {
			hot = "true"
		}
		for _, kv := range [][2]string{
			{"goos", run.Binary.OS}, {"goarch", run.Binary.Arch}, {"cpu", run.Machine.CPU},
			{"machine", stations[c.Run].Machine},
			{"scope", string(c.Scope)}, {"threads", fmt.Sprint(c.Threads)}, {"devices", c.Devices}, {"isa", c.ISA},
			{"device", c.Device}, {"hot", hot},
		} {
			if kv[1] == "" && kv[0] != "cpu" {
				continue
			}
			r.Config = append(r.Config, benchfmt.Config{Key: kv[0], Value: []byte(kv[1]), File: true})
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return nil
}

// LeftOut counts by status the rows with a number that GoBench leaves out, such as "3 NOISY". It
// returns "" if there are none.
func LeftOut(recs bench.Records) string {
	var list []string
	for _, s := range verify.Statuses() {
		n := 0
		for _, c := range recs.Cells {
			if _, _, _, ok := c.Rate(); ok && c.Status == s {
				n++
			}
		}
		if n > 0 && s != verify.Verified {
			list = append(list, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(list, ", ")
}

// printable replaces a character that would end a benchmark's name.
func printable(r rune) rune {
	if unicode.IsSpace(r) || !unicode.IsPrint(r) {
		return '_'
	}
	return r
}
