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
// # What it cannot do
//
// It is content only: nothing runs behind it. canvas.json may declare actions,
// so that an agent can see what the page is meant to do, but invoking one is
// canvas_action_no_handler; and a View's messages are heard by nobody.
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
// The package imports canvas, session and ahp.
package folder
