package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/name"
	"eccbench/internal/verify"
)

// BaselineSchema is the version of a stored baseline.
const BaselineSchema = "eccbench/gate-baseline/2"

// A Baseline is an earlier measurement of a base on one machine under one protocol. Between
// sessions a machine may drift by more than the interval within a session. So measuring the base
// together with the candidate is more reliable.
type Baseline struct {
	Schema      string        `json:"schema"`
	Time        time.Time     `json:"time"`
	Program     Program       `json:"program"`
	Machine     bench.Machine `json:"machine"`
	Fingerprint string        `json:"fingerprint"`
	Protocol    Protocol      `json:"protocol"`
	Cells       []Stretch     `json:"cells"`
}

// A Stretch holds the stored processes of one cell.
type Stretch struct {
	Cell
	Device    string            `json:"device,omitempty"`
	Digests   map[string]string `json:"digests"`            // of the answers, by input
	Tolerant  bool              `json:"tolerant,omitempty"` // they may differ within limits
	Measures  []verify.Measure  `json:"measures,omitempty"`
	Processes []Process         `json:"processes"`
}

// Baseline returns the base's part of a result for storage.
func (r *Result) Baseline() Baseline {
	b := Baseline{
		Schema: BaselineSchema, Time: r.Time, Program: r.Base, Machine: r.Machine, Fingerprint: r.Fingerprint,
		Protocol: r.Protocol,
	}
	for i, c := range r.Cells {
		s := Stretch{Cell: c.Cell, Device: c.Device}
		for _, p := range r.Processes {
			if p.Cell == i && p.Round == 1 && p.Side != Candidate && !p.Repeated {
				s.Digests, s.Tolerant, s.Measures = p.digests, p.tolerant, verify.Worst(s.Measures, p.measures)
				s.Processes = append(s.Processes, p)
			}
		}
		b.Cells = append(b.Cells, s)
	}
	return b
}

// ReadBaseline reads a stored baseline.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	var b Baseline
	if err := json.NewDecoder(r).Decode(&b); err != nil {
		return nil, fmt.Errorf("not a baseline: %w", err)
	}
	if b.Schema != BaselineSchema {
		return nil, fmt.Errorf("schema %q, want %q", b.Schema, BaselineSchema)
	}
	for i := range b.Cells {
		s := &b.Cells[i]
		digests := map[string]string{}
		for input, digest := range s.Digests {
			digests[name.Current(input)] = digest
		}
		s.Input, s.Digests = name.Current(s.Input), digests
	}
	return &b, nil
}

// processes returns the stored processes in the form of new ones.
func (b *Baseline) processes() []Process {
	var list []Process
	for i, s := range b.Cells {
		for _, p := range s.Processes {
			p.Cell, p.digests, p.tolerant, p.measures = i, s.Digests, s.Tolerant, s.Measures
			list = append(list, p)
		}
	}
	return list
}

// ErrIncompatible gives the reason why a baseline cannot be compared.
type ErrIncompatible struct{ Why string }

func (e ErrIncompatible) Error() string { return e.Why }

// Fits returns nil, or an ErrIncompatible with the differences of the machine, the protocol and the
// cells from the baseline. The records name devices, so Fits ignores them.
func (b *Baseline) Fits(m bench.Machine, p Protocol, cells []Cell) error {
	stored := b.Machine
	stored.Devices, m.Devices = nil, nil
	var why []string
	for _, d := range stored.Differs(m) {
		why = append(why, "machine: "+d)
	}
	if b.Protocol != p {
		why = append(why, fmt.Sprintf("protocol: %+v against %+v", b.Protocol, p))
	}
	same := func(x, y Cell) bool { x.Effect, y.Effect = 0, 0; return x == y }
	var of []Cell
	for _, s := range b.Cells {
		of = append(of, s.Cell)
	}
	if !slices.EqualFunc(of, cells, same) {
		why = append(why, fmt.Sprintf("cells: %v against %v", names(of), names(cells)))
	}
	if len(why) > 0 {
		return ErrIncompatible{strings.Join(why, "; ")}
	}
	return nil
}

func names(cells []Cell) []string {
	var list []string
	for _, c := range cells {
		list = append(list, fmt.Sprintf("%s %s %s", c.Impl, c.Input, c.Scope))
	}
	return list
}

// madeOn checks the machine and device of a record.
func (b *Baseline) madeOn(m bench.Machine, device string) error {
	stored := b.Machine
	devices := stored.Devices
	stored.Devices, m.Devices = nil, nil
	if d := stored.Differs(m); len(d) > 0 {
		return ErrIncompatible{"machine: " + strings.Join(d, ", ")}
	}
	if device != "" && !slices.Contains(devices, device) {
		return ErrIncompatible{fmt.Sprintf("device: %s against %s", strings.Join(devices, "; "), device)}
	}
	return nil
}
