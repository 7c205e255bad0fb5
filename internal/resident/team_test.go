package resident

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
)

// standIns opens stand-in devices by number, each once. Their kernels do nothing, or fail.
func standIns(t *testing.T, n int) Opener {
	t.Helper()
	driver := devicetest.New(n, func(name string) devicetest.Kernel {
		return func(device.Launch, func(uint64) ([]byte, error), []any) error {
			if name == "fails" {
				return errors.New("the kernel failed")
			}
			return nil
		}
	})
	opened := map[string]device.Device{}
	return func(which string) (device.Device, error) {
		if d, ok := opened[which]; ok {
			return d, nil
		}
		index, err := strconv.Atoi(which)
		if err != nil {
			return nil, err
		}
		d, err := driver.Open(index)
		if err != nil {
			return nil, err
		}
		opened[which] = d
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d, nil
	}
}

func TestSeveral(t *testing.T) {
	open := standIns(t, 3)
	for list, want := range map[string]string{
		"all": "[0 1 2]", "0": "[0]", "2,0": "[2 0]", "0, 1": "[0 1]",
		"":      "no devices are listed",
		"1,0,1": `devices 1,0,1: "1" and "1" are the same one`,
		"0,3":   "device 3: there are 3",
		"0,":    `parsing ""`,
	} {
		devices, err := open.OpenAll(list)
		var indices []int
		for _, d := range devices {
			indices = append(indices, d.Info().Index)
		}
		got := fmt.Sprint(indices)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("devices %q: %s, want %s", list, got, want)
		}
	}
}

// work is a member that launches a number of blocks and returns its number.
type work struct {
	d      device.Device
	s      device.Stream
	f      device.Function
	blocks int64
	mark   byte
	there  device.Buffer
	here   device.Pinned
}

func (w *work) On() device.Device     { return w.d }
func (w *work) Stream() device.Stream { return w.s }
func (w *work) Enqueue() error {
	return errors.Join(w.s.Launch(w.f, device.Launch{Grid: device.Dim{X: w.blocks}}), w.s.Fill(w.there, 0, 1, w.mark))
}
func (w *work) Bring() error { return w.s.Copy(w.here, 0, w.there, 0, 1) }

func newWork(t *testing.T, d device.Device, kernel string, blocks int64, mark byte) *work {
	t.Helper()
	w := &work{d: d, blocks: blocks, mark: mark}
	keep := func(o interface{ Close() error }, err error) {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Close() })
	}
	var err error
	w.s, err = d.NewStream("work")
	keep(w.s, err)
	w.there, err = d.Alloc("there", 1)
	keep(w.there, err)
	w.here, err = d.AllocPinned("here", 1)
	keep(w.here, err)
	m, err := d.LoadModule("m", []byte(".entry "+kernel+"() {}"))
	keep(m, err)
	if w.f, err = m.Function(kernel); err != nil {
		t.Fatal(err)
	}
	return w
}

// The time of a team is the time of its slowest device, whether members share a device or not.
// Every answer is returned.
func TestTeam(t *testing.T) {
	open := standIns(t, 3)
	devices, err := open.OpenAll(All)
	if err != nil {
		t.Fatal(err)
	}
	for _, blocks := range [][]int64{{9, 1, 1, 1}, {1, 9, 1, 1}, {1, 1, 1, 9}, {3, 9, 4, 1}} {
		var members []Member
		var works []*work
		for i, n := range blocks {
			w := newWork(t, devices[i*len(devices)/len(blocks)], "waits", n, byte(i+1))
			works, members = append(works, w), append(members, w)
		}
		team, err := NewTeam(members)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			slices.Reverse(blocks) // so that clocks that do not wait differ
			for i, w := range works {
				w.blocks, w.here.Data()[0] = blocks[i], 0
			}
			if err := errors.Join(team.Cool(), team.Do()); err != nil {
				t.Fatal(err)
			}
			for i, w := range works {
				if w.here.Data()[0] != byte(i+1) {
					t.Errorf("blocks %v: member %d brought %d", blocks, i, w.here.Data()[0])
				}
			}
			took, err := team.Elapsed()
			longest := time.Duration(slices.Max(blocks)) * time.Millisecond
			if err != nil || took < longest || took > longest+time.Millisecond/2 {
				t.Errorf("blocks %v: took %v, %v; the longest takes %v", blocks, took, err, longest)
			}
		}
		if got := fmt.Sprint(team.UUIDs(), team.Flags()); got != "[GPU-0 GPU-1 GPU-2] [devices=3]" {
			t.Errorf("UUIDs and flags are %s", got)
		}
		if got := team.Device(); !strings.HasPrefix(got, "3 × Stand-in, 16.0 GiB") {
			t.Errorf("the devices are %q", got)
		}
		if err := team.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTeamFails(t *testing.T) {
	open := standIns(t, 2)
	devices, err := open.OpenAll(All)
	if err != nil {
		t.Fatal(err)
	}
	for broken := range 2 {
		var members []Member
		for i, d := range devices {
			kernel := "waits"
			if i == broken {
				kernel = "fails"
			}
			members = append(members, newWork(t, d, kernel, 1, 1))
		}
		team, err := NewTeam(members)
		if err != nil {
			t.Fatal(err)
		}
		if err := team.Do(); err == nil || !strings.Contains(err.Error(), "the kernel failed") {
			t.Errorf("member %d fails: %v", broken, err)
		}
		team.Close() // the failed stream returns its error again
	}
}

// A device that does nothing, because it was closed, keeps no other waiting.
func TestTeamOfAClosedDevice(t *testing.T) {
	for broken := range 3 {
		open := standIns(t, 3)
		devices, err := open.OpenAll(All)
		if err != nil {
			t.Fatal(err)
		}
		var members []Member
		for i, d := range devices {
			w := newWork(t, d, "waits", 1, 1)
			if i == broken {
				w.d = shut{d}
			}
			members = append(members, w)
		}
		team, err := NewTeam(members)
		if err != nil {
			t.Fatal(err)
		}
		if err := team.Do(); !errors.Is(err, errShut) {
			t.Errorf("device %d is closed: %v", broken, err)
		}
		if err := team.Close(); err != nil {
			t.Error(err)
		}
	}
}

var errShut = errors.New("the device is closed")

type shut struct{ device.Device }

func (shut) Do(func() error) error { return errShut }

// refusing is a member whose work cannot be added, while its device goes on.
type refusing struct{ *work }

func (refusing) Enqueue() error { return errors.New("no memory for the work") }

// A team reports the error of any member, first or last.
func TestTeamReportsEveryMember(t *testing.T) {
	devices, err := standIns(t, 2).OpenAll(All)
	if err != nil {
		t.Fatal(err)
	}
	for refuses := range 2 {
		var members []Member
		for i, d := range devices {
			w := newWork(t, d, "waits", 1, 1)
			if members = append(members, w); i == refuses {
				members[i] = refusing{w}
			}
		}
		team, err := NewTeam(members)
		if err != nil {
			t.Fatal(err)
		}
		if err := team.Do(); err == nil || !strings.Contains(err.Error(), "no memory for the work") {
			t.Errorf("member %d refuses: %v", refuses, err)
		}
		if err := team.Close(); err != nil {
			t.Error(err)
		}
	}
}
