#!/bin/sh
# make bench: whole processes against their floor, then the packages' own
# benchmarks. The figures go to .bench/; with an older run there, benchstat
# compares the two.
set -eu
mkdir -p .bench
[ ! -f .bench/new.txt ] || mv .bench/new.txt .bench/old.txt
go test ./bench -run '^$' -bench . -benchtime "${BENCHTIME:-5x}" -timeout 60m "$@" | tee .bench/new.txt
go test ./compiler/... ./policies/... ./ir/... ./executor/... ./internal/sandbox -run '^$' -bench . -benchmem -benchtime "${PKGTIME:-1s}" -timeout 60m | grep -v '^ok\|no test files\|^?' | tee -a .bench/new.txt
if [ -f .bench/old.txt ]; then
  .tools/bin/benchstat .bench/old.txt .bench/new.txt
fi
