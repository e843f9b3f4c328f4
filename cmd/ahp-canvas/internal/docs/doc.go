// Package docs holds the command docs: the documentation that the program carries.
//
// # What it promises
//
//   - A topic reads the same on a terminal, in a browser and as exported pages. Each page
//     is complete: it loads nothing from elsewhere.
//   - The topics commands, errors and metrics are made from the program's own tables, so
//     they describe this version.
//   - The man pages are made from the help of the commands. Two runs write equal files.
//
// The topics are Markdown files in pages. The package imports package term and the
// Markdown parser.
package docs
