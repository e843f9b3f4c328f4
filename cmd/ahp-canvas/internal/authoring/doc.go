// Package authoring holds the commands for people and agents who write canvases: new, lint,
// aap and a2ui.
//
// # What it promises
//
//   - new overwrites no file, and what it makes passes lint.
//   - lint reads a folder and runs nothing of it; a2ui check reads a file.
//
// It imports ahp, the folder, extension and A2UI providers, canvas/provider/aap/skill and
// package term.
package authoring
