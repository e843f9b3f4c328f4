#!/bin/sh
# Checks a release by goreleaser against the short one of the same sources: the archive and
# the packages have the same files, and each list of components names every module that the
# Go command has put into the program, with its version. Arguments: the two folders.
#
#   sh cmd/ahp-canvas/packaging/compare.sh RELEASE SHORT
set -eu
release=$1 short=$2
arch=$(go env GOARCH)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "compare: $1" >&2; exit 1; }
equal() { # equal NAME: two lists in work
  diff "$work/release" "$work/short" >&2 || fail "$1: the files differ"
  echo "$1: $(wc -l <"$work/short") files"
}
for which in release short; do
  eval "dir=\$$which"
  tar -tzf "$dir"/ahp-canvas_*_linux_"$arch".tar.gz | sort >"$work/$which"
done
equal archive
for which in release short; do
  eval "dir=\$$which"
  dpkg-deb --fsys-tarfile "$dir"/ahp-canvas_*_linux_"$arch".deb | tar -t | sed 's#^\./#/#; s#^\([^/]\)#/\1#' | grep -v '/$' | sort >"$work/$which"
done
equal deb
if command -v rpm >/dev/null; then
  rpm -qpl "$release"/ahp-canvas_*_linux_"${arch}".rpm 2>/dev/null | sort >"$work/release"
  equal rpm
  rpm -K "$release"/ahp-canvas_*_linux_"$arch".rpm
  # Into an empty folder, where no shell could run the scripts and rpm knows no other package.
  if [ "$(id -u)" = 0 ]; then
    rpm --root "$work/root" --install --nodeps --noscripts "$release"/ahp-canvas_*_linux_"$arch".rpm
    [ -f "$work/root/usr/lib/systemd/system/ahp-canvas.service" ] || fail "the rpm installs no unit"
    rpm --root "$work/root" --verify --nodeps --noscripts ahp-canvas || fail "what the rpm installed is not what it lists"
    "$work/root/usr/bin/ahp-canvas" version
    rpm --root "$work/root" --erase --noscripts ahp-canvas
    [ ! -e "$work/root/usr/bin/ahp-canvas" ] || fail "the removal of the rpm leaves the program"
  fi
else
  echo "NOT DONE: rpm is not installed, so nothing read the rpm"
fi
(cd "$release" && sha256sum --check --quiet checksums.txt)
# Homebrew and Scoop fetch these archives, and expect these sums.
for manifest in "$release"/homebrew/Casks/*.rb "$release"/scoop/*.json; do
  version=$(sed -n 's/^ *"*version"*:* "\([^"]*\)".*/\1/p' "$manifest")
  sed -n 's/.*"*url"*:* ".*\/\([^"]*\)".*/\1/p' "$manifest" | sed "s/#{version}/$version/" >"$work/urls"
  sed -n 's/.*\(sha256\|"hash":\) "\([0-9a-f]*\)".*/\2/p' "$manifest" | paste -d ' ' - "$work/urls" | sed 's/ /  /' >"$work/release"
  [ -s "$work/release" ] || fail "$manifest names no archives"
  ! grep -vxFf "$release/checksums.txt" "$work/release" >&2 || fail "$manifest names what the release does not have"
  echo "$(basename "$manifest"): $(wc -l <"$work/release") archives"
done
if command -v ruby >/dev/null; then
  ruby -c "$release"/homebrew/Casks/*.rb >/dev/null
else
  echo "NOT DONE: ruby is not installed, so nothing read the cask"
fi
listed=0
for sbom in "$release"/*.cdx.json; do
  target=$(basename "$sbom" .cdx.json | sed 's/.*_\([a-z]*_[a-z0-9]*\)$/\1/')
  program=$(find "$release/ahp-canvas_$target"_* -type f -name 'ahp-canvas*')
  # GOFLAGS can have flags that this command does not know.
  GOFLAGS="" go version -m "$program" | awk '$1 == "dep" { print "pkg:golang/" $2 "@" $3 }' | sort >"$work/linked"
  [ -s "$work/linked" ] || fail "$program names no modules"
  [ "$(wc -c <"$program")" -le 50000000 ] || fail "$program has more than 50 MB"
  grep -o '"purl": "pkg:golang/[^"?]*' "$sbom" | sed 's/"purl": "//; s/%2B/+/g' | sort -u >"$work/named"
  missing=$(comm -23 "$work/linked" "$work/named")
  [ -z "$missing" ] || fail "$sbom does not name $missing"
  echo "$target: $(wc -l <"$work/linked") modules, all named"
  listed=$((listed + 1))
done
[ "$listed" = 6 ] || fail "$listed lists of components, want 6"
