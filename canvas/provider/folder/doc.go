// Package folder provides the content of a folder as a canvas: a web app that
// was built elsewhere, a report, a page.
//
// # Which canvas a folder is
//
// A file canvas.json in it says (its JSON Schema is [Schema], shipped beside this
// package as canvas.schema.json; it is decoded strictly, an unknown member is an
// error). Without it, a folder with an index.html is a canvas that is named after
// the folder. The content is everything in the folder but names that begin with a
// dot and canvas.json itself.
//
// # What its pages do
//
// Nothing runs behind a folder: its pages act, by view/1 (canvas/PROTOCOL.md section 4,
// package view). An action that canvas.json declares goes to one of them, and
// what a page sends becomes an event for the agent, {"message": value}. A value
// within 12 bytes of 64 KiB has no room for that: {"lost": reason} then.
//
// # Files that change
//
// Where a file that a page has read changes on disk, all pages of the folder are
// told to load again (view/1's reload), with their scroll position. The files
// that were read are looked at twice a second while a canvas is open, by one
// goroutine a folder: a look at 1,024 files, the most that are looked at, takes
// about 2 ms. A file system's notifications would come sooner, but they are lost
// on network and shared file systems, want a watch on every folder of a tree with
// a limit for the user's whole session, and watch a folder for what no page
// shows. A change is told once nothing more has changed for half a second, two
// seconds after the first at the latest, so that a build is one reload and an
// editor that renames a new file over the old one is too. A file that no page has
// read, or that was not there when it was asked for, is not looked at, and
// canvas.json is read once, when the folder is opened.
//
// # Making one
//
// [New] writes a small working folder; [Lint] says what is wrong with one.
//
// # Files
//
// They are opened through an os.Root: no path and no symbolic link leads out of
// the folder. A path that ends with a slash is its index.html. A folder without
// its slash is absent: relative references in its page would point elsewhere.
//
// A validator is size and modification time, so that a second read costs a stat
// and not the file. A file that was modified less than two seconds ago may change
// again without either changing, on file systems with coarse clocks; until then
// its validator is a hash of its content.
//
// # Departures from the design
//
// Lint registers what canvas.json declares with a canvas service of its own: the
// judge of a declaration is the host's, and there is one. So the package imports
// channels beside canvas, canvas/view and ahp.
package folder
