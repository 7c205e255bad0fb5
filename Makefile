# Everything that CI runs, each under a name of its own. Only Go is needed to
# build and test; make setup-debian installs what the other targets use.

GO      ?= go
PYTHON  ?= /usr/bin/python3
QEMU    ?= qemu-aarch64-static
BIN     := bin
DOCS    := README.md $(wildcard doc/*.md)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build test race lint generate check-generate portability oracle smoke fuzz setup-debian ci

build:
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -o $(BIN)/eccbench ./cmd/eccbench

test:
	$(GO) test ./...

race:
	$(GO) test -race ./...

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod tidy -diff

generate: build
	$(GO) run ./internal/docgen $(BIN)/eccbench $(DOCS)

check-generate: generate
	git diff --exit-code -- $(DOCS)

# The same bytes for every level of amd64, and on arm64: fused multiply-adds
# show there.
portability:
	for level in v1 v2 v3; do GOAMD64=$$level $(GO) test -count=1 -run 'Digest' ./datasets || exit 1; done
	if grep -q avx512f /proc/cpuinfo; then GOAMD64=v4 $(GO) test -count=1 -run 'Digest' ./datasets; fi
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -c -o $(BIN)/datasets.arm64.test ./datasets
	cd datasets && $(QEMU) ../$(BIN)/datasets.arm64.test -test.run 'Digest'

# GUDHI and scikit-image against every implementation.
oracle:
	ECCBENCH_ORACLE_PYTHON=$(PYTHON) $(GO) test -count=1 -v -run 'Against' ./impls

# One small real run: verified rows, and the curve of a brain scan.
smoke: build
	$(BIN)/eccbench --sizes 64..128 --dim 3 --max-time 1s --levels 256
	$(BIN)/eccbench verify --quiet
	$(BIN)/eccbench curve /usr/share/mricron/templates/ch2.nii.gz > $(BIN)/ch2.csv
	grep -q '^0,40,40$$' $(BIN)/ch2.csv
	grep -q '^40,[-0-9]*,-541$$' $(BIN)/ch2.csv
	grep -q '^100,[-0-9]*,-615$$' $(BIN)/ch2.csv
	tail -1 $(BIN)/ch2.csv | grep -q ',1$$'

FUZZTIME ?= 30s
fuzz:
	for pkg in ./datasets ./impls/cpu; do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep ^Fuzz); do \
		$(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; done; done

setup-debian:
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git gcc python3-gudhi python3-skimage python3-numpy mricron-data qemu-user-static

ci: lint check-generate test race portability oracle smoke
