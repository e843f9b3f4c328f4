// Package folder provides the content of a folder as a canvas: a web app that was built
// elsewhere, a report, or a page.
//
// # The canvas of a folder
//
// The file canvas.json describes the canvas. Its JSON Schema is [Schema]; it is decoded
// strictly, so an unknown member is an error. A folder without it but with an index.html
// is a canvas named after the folder. The content is everything in the folder except
// names that begin with a dot, and canvas.json.
//
// # Pages
//
// No program runs behind a folder: its pages act, by view/1 (canvas/PROTOCOL.md section
// 4, package view). A declared action goes to one page, and a message of a page becomes
// an event for the agent, {"message": value}. If the value is so large that the event
// would exceed 64 KiB, the event is {"lost": reason}. Pages may offer links to the
// person.
//
// # Changed files
//
// If a file changes that a page has read, all pages of the folder reload (view/1) and
// keep their scroll position. One goroutine per folder checks these files
// twice a second while a canvas is open, at most 1,024 of them, which takes about 2 ms.
// (Notifications of the file system would come sooner. But network and shared file
// systems lose them, a tree needs one watch per folder out of a limited number, and they
// report files that no page shows.)
//
// The reload comes after half a second without a further change, or two seconds after
// the first one, so that a build or an editor that replaces a file causes one. Files
// that no page has read, or that did not exist then, are not checked, and canvas.json is
// read only when the folder is opened.
//
// # Tools
//
// [New] writes a small working folder; [Lint] reports what is wrong with one.
//
// # Files
//
// Files are opened through an os.Root: no path and no symbolic link leads out of the
// folder. A path that ends with a slash is its index.html. A folder without its slash is
// not found, because relative references in its page would resolve against the parent.
//
// The validator of a file is its size and modification time, so that a second read does
// not read the file. On file systems with coarse clocks, a file can change without a
// change of either, so the validator is a hash of the content in the first two seconds
// after a modification.
//
// The package imports canvas, canvas/check, canvas/view and ahp.
package folder
