#!/bin/sh
# Does what a person does with a release on a Linux machine: unpack the archive, serve, see
# the page, upgrade, back up, restore, uninstall; then the same with the Debian package if
# this is root on Debian. Argument: the folder with the release.
#
#   sh cmd/ahp-canvas/packaging/try.sh cmd/ahp-canvas/packaging/dist/release
#
# What it cannot do without a running systemd it says.
set -eu
release=$(cd "$1" && pwd)
arch=$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/')
work=$(mktemp -d)
export XDG_RUNTIME_DIR="$work/run" XDG_STATE_HOME="$work/state"
mkdir -m 700 "$XDG_RUNTIME_DIR" "$XDG_STATE_HOME"
admin=127.0.0.1:$((20000 + $$ % 20000)) # health and metrics
served=""
trap '[ -z "$served" ] || kill "$served" 2>/dev/null || true; rm -rf "$work"' EXIT
step() { printf '\n== %s\n' "$1"; }
fail() { echo "try: $1" >&2; exit 1; }

start() { # start PROGRAM FLAGS...
  program=$1; shift
  "$program" serve --browser none --workspace "$work" --admin "$admin" "$@" >"$work/link" 2>"$work/log" &
  served=$!
  for _ in $(seq 300); do
    "$program" ls >/dev/null 2>&1 && return
    kill -0 "$served" 2>/dev/null || { cat "$work/log" >&2; fail "the host ended"; }
    sleep 0.1
  done
  fail "the host does not answer"
}
stop() { kill "$served"; wait "$served" || true; served=""; }
page_in_browser() { # the page connects from a browser
  if ! command -v chromium >/dev/null; then
    echo "NOT DONE: there is no chromium, so no browser opened the page"
    return
  fi
  link=$(grep -o 'http[^ ]*#tkn=[^ ]*' "$work/link" | head -n 1)
  chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$work/browser" --remote-debugging-port=0 "$link" >/dev/null 2>&1 &
  browser=$!
  connected=""
  for _ in $(seq 600); do
    if curl -fsS "http://$admin/metrics" | grep -q '^ahp_canvas_connections [1-9]'; then
      connected=1
      break
    fi
    sleep 0.1
  done
  kill "$browser"
  wait "$browser" 2>/dev/null || true
  [ -n "$connected" ] || fail "the page in chromium does not connect"
}
use() { # use PROGRAM: the page answers, and what an agent does works
  page=$(sed -n 's/^\(http[^#]*\)#.*/\1/p' "$work/link" | head -n 1)
  curl -fsS "$page" -o "$work/page.html"
  grep -qi '<!doctype html>' "$work/page.html" || fail "no page at $page"
  "$1" invoke board add_card -f list="To do" -f title="Tried" >/dev/null
  "$1" invoke board get_board | grep -q Tried || fail "the card is not there"
}

step "checksums"
(cd "$release" && sha256sum --check --quiet checksums.txt)
step "archive"
dir=$work/unpacked
mkdir "$dir"
tar -xzf "$release"/ahp-canvas_*_linux_"$arch".tar.gz -C "$dir"
for file in LICENSE THIRD_PARTY_LICENSES.txt man/ahp-canvas-serve.1 completions/ahp-canvas.bash packaging/systemd/ahp-canvas.service; do
  [ -s "$dir/$file" ] || fail "the archive has no $file"
done
"$dir/ahp-canvas" version
"$dir/ahp-canvas" docs start >/dev/null
start "$dir/ahp-canvas"
use "$dir/ahp-canvas"
page_in_browser
step "upgrade: another copy of the program opens the same state"
stop
cp "$dir/ahp-canvas" "$work/newer"
start "$work/newer"
"$work/newer" invoke board get_board | grep -q Tried || fail "the upgrade lost the card"
step "backup while it runs, restore on another machine"
"$work/newer" state backup --keys "$work/backup.db"
before=$("$work/newer" link | sed 's/.*#//')
stop
export XDG_STATE_HOME="$work/other"
mkdir -m 700 "$XDG_STATE_HOME"
"$work/newer" state restore --keys "$work/backup.db"
start "$work/newer"
"$work/newer" invoke board get_board | grep -q Tried || fail "the backup has no card"
[ "$("$work/newer" link | sed 's/.*#//')" = "$before" ] || fail "the tokens have changed"
stop

step "Debian package"
if ! command -v dpkg >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "NOT DONE: needs root on Debian"
  exit 0
fi
[ ! -e /usr/bin/ahp-canvas ] || fail "/usr/bin/ahp-canvas exists already"
dpkg -i "$release"/ahp-canvas_*_linux_"$arch".deb
trap '[ -z "$served" ] || kill "$served" 2>/dev/null || true; dpkg -P ahp-canvas >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
export XDG_STATE_HOME="$work/packaged"
mkdir -m 700 "$XDG_STATE_HOME"
start /usr/bin/ahp-canvas
use /usr/bin/ahp-canvas
stop
if command -v systemd-analyze >/dev/null; then
  for unit in ahp-canvas ahp-canvas-relay; do
    systemd-analyze verify /usr/lib/systemd/system/$unit.service /usr/lib/systemd/system/$unit.socket 2>&1 | grep -i ahp-canvas && fail "systemd complains about $unit"
    level=$(systemd-analyze security --offline=true --no-pager /usr/lib/systemd/system/$unit.service 2>/dev/null | sed -n 's/.*exposure level for .*: \([0-9.]*\).*/\1/p')
    echo "$unit: no complaints, exposure ${level:-not known}"
    [ -z "$level" ] || [ "$(echo "$level" | tr -d .)" -le 25 ] || fail "$unit is open by $level"
  done
fi
if [ -d /run/systemd/system ]; then
  systemctl start ahp-canvas.socket
  curl -fsS http://127.0.0.1:8080/ -o "$work/page.html"
  grep -qi '<!doctype html>' "$work/page.html" || fail "no page of the service"
  systemctl stop ahp-canvas.socket ahp-canvas.service
else
  echo "NOT DONE: systemd does not run here, so the units were not started"
fi
dpkg -P ahp-canvas
[ ! -e /usr/bin/ahp-canvas ] && [ ! -e /etc/default/ahp-canvas ] || fail "files are left"
step "done"
