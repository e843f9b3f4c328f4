#!/bin/sh
# Writes into dist/prepared what a release needs besides the sources: manual pages, completions,
# licenses, and the sizes of the largest dependencies. goreleaser runs it from the root of a
# clone, before it builds.
set -eu
cd "$(dirname "$0")/../../.."
out=cmd/ahp-canvas/packaging/dist/prepared
rm -rf "$out"
mkdir -p "$out/completions" "$out/man.gz"
program=$out/ahp-canvas
flags=${AHP_BUILD_FLAGS:--trimpath -buildvcs=false} # a test uses what its cache has
CGO_ENABLED=0 go build $flags -o "$program" ./cmd/ahp-canvas
"$program" docs man "$out/man"
for page in "$out"/man/*.1; do
  gzip -9 -n -c "$page" >"$out/man.gz/$(basename "$page").gz"
done
for shell in bash zsh fish powershell; do
  "$program" completion $shell >"$out/completions/ahp-canvas.$shell"
done
"$program" licenses >"$out/THIRD_PARTY_LICENSES.txt"
GOOS=linux GOARCH=amd64 CGO_ENABLED=0 go build $flags -o "$program" ./cmd/ahp-canvas
go run ./cmd/ahp-canvas/packaging/sizes "$program" >"$out/SIZES.txt"
rm "$program"
