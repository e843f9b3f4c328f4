// Package authoring holds the commands for people and agents who write canvases: new, lint,
// aap and a2ui.
//
// # What it promises
//
//   - new overwrites no file, and what it makes passes lint.
//   - lint reads a folder and runs nothing of it.
//   - a2ui check reports what a host would, and sends nothing anywhere.
//
// It imports the folder and extension providers, canvas/provider/aap/skill,
// canvas/provider/a2ui with its canvases, package term and ahp.
package authoring
