#!/bin/sh
# Before a removal the services stop. An upgrade leaves them running: dpkg calls this with
# "upgrade", rpm with 1.
set -e
case "${1:-}" in
upgrade | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl disable --now ahp-canvas.socket ahp-canvas.service ahp-canvas-relay.socket ahp-canvas-relay.service || true
fi
