package host

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/regular"
)

// NewRunRecord describes the run that starts now: machine, program and arguments. The hash of the program, which takes
// some 20 ms, is optional.
func NewRunRecord(argv []string, seed uint64, hash bool) (bench.RunRecord, error) {
	id := make([]byte, 8)
	rand.Read(id)
	binary, err := describeBinary(hash)
	return bench.RunRecord{
		Schema: bench.Schema, Kind: bench.KindRun,
		ID:   hex.EncodeToString(id),
		Time: time.Now().UTC().Truncate(time.Millisecond),
		Argv: argv, Seed: seed,
		Binary:  binary,
		Machine: DescribeMachine(),
	}, err
}

// describeBinary identifies this program.
func describeBinary(hash bool) (b bench.Binary, err error) {
	b = bench.Binary{Commit: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		noteBuild(&b, info)
	}
	if hash {
		b.SHA256, err = ProgramHash()
	}
	return b, err
}

// ProgramHash returns the SHA-256 of this program's file, as 64 hexadecimal digits.
var ProgramHash = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = Running(path)
	}
	if code, _ := library(); code != "" { // Running reports the error
		path = code
	}
	sum := ""
	if err == nil {
		sum, err = regular.Hash(path)
	}
	if err != nil {
		return "", fmt.Errorf("hashing the program: %w", err)
	}
	return sum, nil
})

// noteBuild records the architecture level and the commit of a build.
func noteBuild(b *bench.Binary, info *debug.BuildInfo) {
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	if level := setting["GO"+strings.ToUpper(b.Arch)]; level != "" {
		b.Arch += "/" + level
	}
	b.Commit = setting["vcs.revision"]
	if b.Commit == "" {
		b.Commit = checkoutCommit(info.Main.Path)
	} else if setting["vcs.modified"] == "true" {
		b.Commit += "+dirty"
	}
}

// checkoutCommit returns the revision of the current directory, if that is the program's own
// source. go run needs this, because it does not stamp a revision.
func checkoutCommit(module string) string {
	mod, err := os.ReadFile("go.mod")
	if err != nil || !bytes.HasPrefix(mod, []byte("module "+module+"\n")) {
		return "unknown"
	}
	rev, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	commit := strings.TrimSpace(string(rev))
	if status, err := exec.Command("git", "status", "--porcelain").Output(); err != nil || len(status) > 0 {
		commit += "+dirty"
	}
	return commit
}

// DescribeMachine describes this host as far as it can be read.
func DescribeMachine() bench.Machine {
	host, _ := os.Hostname()
	limit, _ := cgroupMemory("/")
	return bench.Machine{
		Host:        host,
		CPU:         cmp.Or(procField("/proc/cpuinfo", "model name"), "n/a"),
		Cores:       runtime.NumCPU(),
		Caches:      caches(),
		Governor:    cmp.Or(first("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), "n/a"),
		Memory:      kilobytes(procField("/proc/meminfo", "MemTotal")),
		CgroupCPU:   cmp.Or(cgroupCPU("/"), "n/a"),
		CgroupBytes: limit,
		Load:        load(),
		Kernel:      strings.TrimSpace(runtime.GOOS + " " + first("/proc/sys/kernel/osrelease")),
	}
}

// limited returns a cgroup's limit in bytes. It returns 0 for "max", and for the huge value that
// means no limit in version 1.
func limited(text string) int64 {
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil || limit >= 1<<60 {
		return 0
	}
	return limit
}

// AvailableMemory returns the bytes that can be used without swapping, within the limits of the
// cgroups, or 0 if unknown.
func AvailableMemory() int64 {
	_, free := cgroupMemory("/")
	available := kilobytes(procField("/proc/meminfo", "MemAvailable"))
	if available == 0 {
		_, available = systemMemory()
	}
	return min(free, available)
}

// TotalMemory returns the bytes of memory of the machine, or of the cgroup if that has less; 0 if
// unknown.
func TotalMemory() int64 {
	memory := kilobytes(procField("/proc/meminfo", "MemTotal"))
	if memory == 0 {
		memory, _ = systemMemory()
	}
	if limit, _ := cgroupMemory("/"); limit > 0 {
		return min(memory, limit)
	}
	return memory
}

// first returns the trimmed content of the first readable file.
func first(paths ...string) string {
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil {
			return strings.TrimSpace(string(b))
		}
	}
	return ""
}

// procField returns the first value with a name in a file of "name : value" lines.
func procField(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, ok := strings.Cut(s.Text(), ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func kilobytes(s string) int64 {
	kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(s, "kB")), 10, 64)
	return kb << 10
}

// caches lists the caches of the first core: "L1d 48K", "L2 1024K", …
func caches() []string {
	list := []string{}
	dirs, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*")
	slices.Sort(dirs)
	for _, d := range dirs {
		kind := map[string]string{"Data": "d", "Instruction": "i"}[first(d+"/type")]
		list = append(list, fmt.Sprintf("L%s%s %s", first(d+"/level"), kind, first(d+"/size")))
	}
	return list
}

func load() (l [3]float64) {
	fmt.Sscan(first("/proc/loadavg"), &l[0], &l[1], &l[2])
	return l
}
