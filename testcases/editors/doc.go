// Package editors runs the clients of published editors against a host. Its tests need
// Node and "npm ci --ignore-scripts" in this folder (77 MB), so they run only with
// AHP_LONG=1. TestWorkbench installs a VS Code server in the cache folder of the user (290 MB)
// and needs Chromium.
package editors
