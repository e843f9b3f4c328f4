#!/bin/sh
# After an installation or an upgrade: services that run continue with the new version.
# Nothing is enabled; "ahp-canvas docs operate" says how.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  systemctl try-restart ahp-canvas.service ahp-canvas-relay.service || true
fi
