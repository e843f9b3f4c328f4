// Package authoring holds the commands for people who write canvases: new and lint.
//
// # What it promises
//
//   - new overwrites no file, and what it makes passes lint.
//   - lint reads a folder and runs nothing of it.
//
// It imports the folder and extension providers and package term.
package authoring
