// Package release names the build of a program, which every answer is written with.
package release

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// stamp is the release that the linker was given (-X eccbench/internal/release.stamp=v1.2.3), or "".
var stamp string

// Version returns the release of this program, or the revision of its source, and the toolchain.
// Two builds of changed or unknown sources are two programs, which the hash distinguishes.
func Version(hash func() (string, error)) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	if stamp != "" {
		info = &debug.BuildInfo{GoVersion: info.GoVersion, Main: debug.Module{Version: stamp}}
	}
	return version(info, hash)
}

// version returns the version of a program with this build information.
func version(info *debug.BuildInfo, hash func() (string, error)) string {
	v, revision, isModified := info.Main.Version, "", false
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			isModified = true
		}
	}
	isDevelopment := v == "" || v == "(devel)"
	if isDevelopment {
		v = "development version"
	}
	if revision != "" {
		v += ", commit " + revision
	}
	if isModified {
		v += "+dirty"
	}
	if isModified || isDevelopment && revision == "" {
		sum, err := hash()
		if err != nil {
			sum = "unknown"
		}
		v += fmt.Sprintf(", sha256 %.16s", sum)
	}
	return fmt.Sprintf("eccbench %s, %s", v, info.GoVersion)
}
