#!/bin/sh
# Builds an image with buildah and runs it as a user without rights: the last stage of the
# Dockerfile with a program that is built already. The registries of the base images are
# often out of reach, so it begins from an empty image in place of distroless, which has
# only certificates and time zones in addition. Argument: the program, for Linux.
#
#   sh cmd/ahp-canvas/packaging/container/try.sh ./ahp-canvas
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
served=""
trap 'end; b rm -a >/dev/null 2>&1 || true; b rmi -a -f >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
# end ends the host in the container, which is a descendant of buildah's process.
end() {
  [ -n "$served" ] || return 0
  for pid in $(pgrep -P "$served") "$served"; do
    for child in $(pgrep -P "$pid") "$pid"; do kill "$child" 2>/dev/null || true; done
  done
  wait "$served" 2>/dev/null || true
  served=""
}
fail() { echo "container: $1" >&2; [ ! -s "$work/log" ] || cat "$work/log" >&2; exit 1; }
b() { buildah --storage-driver vfs --root "$work/root" --runroot "$work/run" "$@"; }

mkdir -p "$work/out/state"
cp "$1" "$work/out/ahp-canvas"
sed -n '/^FROM gcr/,$p' "$here/Dockerfile" | sed 's/^FROM .*/FROM scratch/; s/--from=build //; s#^\(COPY.*\) /out#\1 out#; s/nonroot:nonroot/65532:65532/' >"$work/Dockerfile"
b bud --quiet --format docker --isolation chroot -t ahp-canvas "$work" >/dev/null
image=$(b inspect --type image ahp-canvas)
for want in '"User": "65532:65532"' '"/state": {}' '"Healthcheck"'; do
  echo "$image" | grep -q "$want" || fail "the image has no $want"
done
container=$(b from ahp-canvas)
run() { b run --isolation chroot "$container" -- "$@"; }
run /usr/bin/ahp-canvas version
# What CMD has, without the address: here the container has the network of this machine.
run /usr/bin/ahp-canvas serve --state /state/host --workspace /state --listen 127.0.0.1:0 --browser none >"$work/link" 2>"$work/log" &
served=$!
healthy=""
for _ in $(seq 150); do
  if run /usr/bin/ahp-canvas ls >/dev/null 2>&1; then # the health check
    healthy=1
    break
  fi
  kill -0 "$served" 2>/dev/null || fail "the host ended"
  sleep 0.2
done
[ -n "$healthy" ] || fail "the health check fails"
run /usr/bin/ahp-canvas invoke board add_card -f list="To do" -f title="Tried" >/dev/null
mounted=$(b mount "$container")
stored=$(find "$mounted/state" "$work" -name store.db 2>/dev/null | head -n 1)
[ -n "$stored" ] || fail "the host stores nothing"
[ "$(stat -c %u "$stored")" = 65532 ] || fail "the host ran as the user $(stat -c %u "$stored")"
end
echo "NOT DONE: no image from golang or distroless was pulled; \"docker build\" with the Dockerfile as it stands, and the compose file, were not run"
