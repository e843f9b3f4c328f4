// Package authoring holds the commands for people and agents who write canvases: new, lint
// and aap.
//
// # What it promises
//
//   - new overwrites no file, and what it makes passes lint.
//   - lint reads a folder and runs nothing of it.
//
// It imports the folder and extension providers, canvas/provider/aap/skill and package term.
package authoring
