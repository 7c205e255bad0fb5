#!/bin/sh
# Builds a release into a folder: for each platform an archive of the static command with its man pages, shell
# completions and the licences of its modules (THIRD_PARTY), and its bill of materials (CycloneDX); the wheels and the
# sdist of the Python package; the page; and checksums:
#
#	scripts/release.sh v1.2.3 dist [GO]
#
# The same commit and toolchain give the same bytes. WHEELS=no leaves out the Python package. On Windows the command
# answers, and measures nothing: it runs its workers as processes of Unix.
set -eu
version=$1 out=$2 go=${3:-go}
platforms=${PLATFORMS:-linux-amd64 linux-arm64 darwin-arm64 darwin-amd64 windows-amd64}
: "${SOURCE_DATE_EPOCH:=315532800}"

refuse() { echo "release: $1" >&2; exit 64; }
[ -d .git ] || refuse "want a clone of the repository, whose commit the programs are stamped with (a worktree has none)"
[ -z "$(git status --porcelain)" ] || refuse "the tree has changes: commit them first"
case $version in v[0-9]*.[0-9]*.[0-9]*) ;; *) refuse "$version: want a version such as v1.2.3" ;; esac
grep -q "^## \[${version#v}\]" CHANGELOG.md || refuse "CHANGELOG.md has no entry [${version#v}]: write it first"
# has FILE LINE refuses a file without a line, that of the version.
has() { grep -qxF "$2" "$1" || refuse "$1 has another version than ${version#v}: change it"; }
has CITATION.cff "version: ${version#v}"
has python/pyproject.toml "version = \"${version#v}\""
has packaging/conda/recipe.yaml "  version: \"${version#v}\""

# pack FOLDER makes an archive of a folder, and removes the folder.
pack() {
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' --mtime="@$SOURCE_DATE_EPOCH" \
		-C "$out" -cf - "$1" | gzip -9n > "$out/$1.tar.gz"
	rm -r "${out:?}/$1"
}

rm -rf "$out"
mkdir -p "$out"
build() { # OS ARCHITECTURE FOLDER
	GOFLAGS="${GOFLAGS:-} -trimpath" GOOS=$1 GOARCH=$2 make --no-print-directory build BIN="$3" TAGS=nethttpomithttp2 \
		RELEASE="$version" GO="$go"
}
build "$("$go" env GOHOSTOS)" "$("$go" env GOHOSTARCH)" "$out"
"$go" run ./internal/manuals "$out/eccbench" "$out/manuals"
for platform in $platforms; do
	name=eccbench-$version-$platform program=eccbench
	case $platform in windows-*) program=eccbench.exe ;; esac
	mkdir "$out/$name"
	build "${platform%-*}" "${platform#*-}" "$out/$name"
	[ $program = eccbench ] || mv "$out/$name/eccbench" "$out/$name/$program"
	"$go" run ./internal/thirdparty -sbom "$out/$name/$program" > "$out/$name.cdx.json"
	cp -r LICENSE THIRD_PARTY CHANGELOG.md CITATION.cff "$out/manuals/man" "$out/manuals/completions" "$out/$name"
	pack "$name"
done
make --no-print-directory web WEB="$out/eccbench-$version-page" RELEASE="$version" GO="$go"
cp LICENSE THIRD_PARTY "$out/eccbench-$version-page"
pack "eccbench-$version-page"
rm -r "$out/eccbench" "$out/manuals"
if [ "${WHEELS:-}" != no ]; then
	make --no-print-directory wheels sdist WHEELS="$out/python" RELEASE="$version" GO="$go"
	mv "$out"/python/* "$out"
	rmdir "$out/python"
fi
(cd "$out" && sha256sum -- * > SHA256SUMS && cat SHA256SUMS)
