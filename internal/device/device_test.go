package device

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	list := []Info{
		{Index: 0, Name: "NVIDIA H200", UUID: "GPU-0aaa", PCI: "0000:3b:00.0"},
		{Index: 1, Name: "NVIDIA H200", UUID: "GPU-0bbb", PCI: "0000:3c:00.0"},
		{Index: 2, Name: "NVIDIA A100", UUID: "GPU-1ccc", PCI: "0000:3d:00.0"},
	}
	for which, want := range map[string]any{
		"": 0, "0": 0, "2": 2, "a100": 2, "gpu-0B": 1, "GPU-1ccc": 2, "0000:3C:00.0": 1,
		"3":     "device 3: there are 3: 0 NVIDIA H200 (GPU-0aaa, 0000:3b:00.0), 1 ",
		"-1":    "device -1: there are 3",
		"H200":  `device "H200": could be any of 0 NVIDIA H200 (GPU-0aaa, 0000:3b:00.0), 1 NVIDIA H200`,
		"GPU-0": `device "GPU-0": could be any of`,
		"B200":  `device "B200": none is called so: 0 NVIDIA H200`,
	} {
		got, err := Choose(list, which)
		if index, ok := want.(int); ok && (err != nil || got.Index != index) {
			t.Errorf("Choose(%q) = %d, %v, want %d", which, got.Index, err, index)
		} else if text, ok := want.(string); ok && (err == nil || !strings.HasPrefix(err.Error(), text)) {
			t.Errorf("Choose(%q): error %v, want %q", which, err, text)
		}
	}
	if _, err := Choose(nil, ""); !IsUnavailable(err) {
		t.Errorf("choosing from nothing: %v", err)
	}
}

type coded struct{ memory, sticky, large, registered bool }

func (coded) Error() string          { return "coded" }
func (c coded) OutOfMemory() bool    { return c.memory }
func (c coded) Sticky() bool         { return c.sticky }
func (c coded) LaunchTooLarge() bool { return c.large }
func (c coded) Registered() bool     { return c.registered }

func TestKindsOfErrors(t *testing.T) {
	for i, c := range []coded{{}, {memory: true}, {sticky: true}, {large: true}, {registered: true}} {
		err := fmt.Errorf("doing: %w", c)
		if IsOutOfMemory(err) != c.memory || IsSticky(err) != c.sticky || IsLaunchTooLarge(err) != c.large || IsRegistered(err) != c.registered || IsUnavailable(err) {
			t.Errorf("case %d is mistaken", i)
		}
	}
	cause := errors.New("cause")
	err := fmt.Errorf("doing: %w", &Unavailable{Why: "none", Err: cause})
	if !IsUnavailable(err) || !errors.Is(err, cause) || err.Error() != "doing: none" {
		t.Errorf("unavailable: %v", err)
	}
	for _, err := range []error{nil, errors.New("other")} {
		if IsOutOfMemory(err) || IsSticky(err) || IsLaunchTooLarge(err) || IsRegistered(err) || IsUnavailable(err) {
			t.Errorf("%v is mistaken for another kind", err)
		}
	}
}

func TestTexelsAndDims(t *testing.T) {
	if n := (ArrayLayout{Texel: Float16, Width: 3, Height: 5}).Bytes(); n != 30 {
		t.Errorf("a 3 × 5 array of float16 has %d bytes, want 30", n)
	}
	if n := (ArrayLayout{Texel: Uint8, Width: 4096, Height: 4096, Depth: 4096}).Bytes(); n != 1<<36 {
		t.Errorf("a 4096³ array of uint8 has %d bytes, want 2³⁶", n)
	}
	if Texel("rgb").Size() != 0 || Int8.Float() || !Float16.Float() {
		t.Error("texel types are mistaken")
	}
	if n := (Dim{X: 4, Z: 3}).Count(); n != 12 {
		t.Errorf("an extent of 4 × 0 × 3 counts %d, want 12", n)
	}
}

func TestReadingsAsText(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"1980 MHz":        Reading{Value: 1980, Unit: "MHz"},
		"n/a":             Reading{Unit: "MHz", Missing: "no NVML"},
		"none":            Reasons{},
		"idle, power cap": Reasons{List: []Reason{Idle, PowerCap}},
		"2":               Processes{List: make([]Process, 2)},
	} {
		if got.String() != want {
			t.Errorf("%+v is %q, want %q", got, got.String(), want)
		}
	}
	if (Reasons{List: []Reason{Idle, ChosenClocks}}).Slowed() || !(Reasons{List: []Reason{Idle, Thermal}}).Slowed() {
		t.Error("what slows is mistaken")
	}
}
