// Package editors runs published editors against a host, and the transcripts against a
// published host. Its tests install npm packages, so they run only with AHP_LONG=1: in
// this folder (77 MB), and in the cache folder of the user a VS Code server (290 MB) and
// Copilot CLI (200 MB). TestWorkbench and TestMCPChat also need Chromium, and Copilot CLI
// needs tmux. The script .ci/editors runs them all.
package editors
