package host

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
)

const (
	fakeGit = "ECCBENCH_TEST_GIT"  // changes in the checkout of the fake git
	isGone  = "ECCBENCH_TEST_GONE" // the program removes its own file
)

func TestMain(m *testing.M) {
	if changed, ok := os.LookupEnv(fakeGit); ok {
		os.Exit(git(changed, os.Args[1:]))
	}
	if os.Getenv(isGone) != "" {
		os.Exit(gone())
	}
	os.Exit(m.Run())
}

// git answers like git in a checkout with the given changes. If changed is a command, that command
// fails.
func git(changed string, args []string) (exit int) {
	if args[0] == changed {
		return 128
	}
	switch strings.Join(args, " ") {
	case "rev-parse HEAD":
		fmt.Println("0123abcd")
	case "status --porcelain":
		fmt.Print(changed)
	default:
		return 1
	}
	return 0
}

// gone removes the file of this program and prints the digest of the running program.
func gone() (exit int) {
	self, err := os.Executable()
	if err == nil {
		err = os.Remove(self)
	}
	b, err2 := describeBinary(true)
	fmt.Print(b.SHA256)
	if err := errors.Join(err, err2); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A run record identifies the running program, even if its file has changed.
func TestDigestOfWhatRuns(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a name for it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	checktest.Program(t, path, program)
	t.Setenv(isGone, "1")
	out, err := exec.Command(path).CombinedOutput()
	if want := fmt.Sprintf("%x", sha256.Sum256(program)); err != nil || string(out) != want {
		t.Errorf("%s, %v; want %s", out, err, want)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("its file is there")
	}
}

// A program without a commit has the commit of the checkout in which it runs, but not of another
// program's. The commit is dirty if a file has changed or if this is unknown.
func TestCommitOfACheckout(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "git")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", dir)
	t.Chdir(dir)
	for _, c := range []struct{ module, changed, want string }{
		{"module toy\n\ngo 1.25\n", "", "0123abcd"},
		{"module toy\n", " M toy.go\n", "0123abcd+dirty"},
		{"module toy\n", "status", "0123abcd+dirty"},
		{"module toy\n", "rev-parse", "unknown"},
		{"module toys\n", "", "unknown"},
		{"", "", "unknown"},
	} {
		if err := os.WriteFile("go.mod", []byte(c.module), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Setenv(fakeGit, c.changed)
		if got := checkoutCommit("toy"); got != c.want {
			t.Errorf("%q changed in %q: %s, want %s", c.changed, c.module, got, c.want)
		}
	}
	if err := os.Remove("go.mod"); err != nil {
		t.Fatal(err)
	}
	if got := checkoutCommit("toy"); got != "unknown" {
		t.Errorf("without a module: %s", got)
	}
}

// A cgroup has the limit in its file, unless that means no limit.
func TestLimitsOfCgroups(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "max": 0, "0": 0, "4096": 4096, "1152921504606846975": 1<<60 - 1, "1152921504606846976": 0, "9223372036854771712": 0, "99999999999999999999": 0} {
		if got := limited(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// A build contains its architecture level and its commit.
func TestBuilds(t *testing.T) {
	t.Chdir(t.TempDir()) // outside of any checkout
	for _, c := range []struct {
		settings     []debug.BuildSetting
		arch, commit string
	}{
		{nil, "amd64", "unknown"},
		{[]debug.BuildSetting{{Key: "GOAMD64", Value: "v3"}, {Key: "GOARM64", Value: "v8.0"}}, "amd64/v3", "unknown"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "0123"}, {Key: "vcs.modified", Value: "false"}}, "amd64", "0123"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "0123"}, {Key: "vcs.modified", Value: "true"}}, "amd64", "0123+dirty"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, "amd64", "unknown"},
	} {
		b := bench.Binary{Arch: "amd64", Commit: "unknown"}
		if noteBuild(&b, &debug.BuildInfo{Settings: c.settings}); b.Arch != c.arch || b.Commit != c.commit {
			t.Errorf("%v: built for %s from %s, want %s and %s", c.settings, b.Arch, b.Commit, c.arch, c.commit)
		}
	}
}

// A property of the machine is the first value of a name, without surrounding space.
func TestFieldsOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	if err := os.WriteFile(path, []byte("Threads without a value\nmodel name\t: one of two: fast \nMemTotal:       12 kB\nmodel name : another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"model name": "one of two: fast", "MemTotal": "12 kB", "model": "", "Threads without a value": ""} {
		if got := procField(path, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := procField(path+".none", "MemTotal"); got != "" {
		t.Errorf("of no file: %q", got)
	}
	if got := kilobytes(procField(path, "MemTotal")); got != 12<<10 {
		t.Errorf("12 kB are %d bytes", got)
	}
	if got := first(path+".none", path); !strings.HasPrefix(got, "Threads") || !strings.HasSuffix(got, "another") || first(path+".none") != "" {
		t.Errorf("the file has %q", got)
	}
}

func TestDescribeMachine(t *testing.T) {
	m := DescribeMachine()
	if m.CPU == "" || m.Cores < 1 || m.Caches == nil || m.Governor == "" || m.CgroupCPU == "" {
		t.Errorf("machine %+v: what cannot be read is n/a", m)
	}
	if runtime.GOOS == "linux" && (!strings.HasPrefix(m.Kernel, "linux ") || m.Memory == 0 || len(m.Caches) > 0 && !strings.HasPrefix(m.Caches[0], "L1")) {
		t.Errorf("machine %+v: kernel, memory and caches are known", m)
	}
	r, err := NewRunRecord([]string{"eccbench"}, 7, true)
	arch := runtime.GOARCH
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "GO"+strings.ToUpper(arch) {
				arch += "/" + s.Value
			}
		}
	}
	if r.Binary.Arch != arch {
		t.Errorf("built for %s, want %s", r.Binary.Arch, arch)
	}
	if err != nil || len(r.ID) != 16 || len(r.Binary.SHA256) != 64 || r.Binary.Go == "" {
		t.Errorf("run %+v, %v", r, err)
	}
}
