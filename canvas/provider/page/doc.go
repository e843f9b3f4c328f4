// Package page is the canvas that an agent writes: HTML, CSS and scripts in one call, and
// the person sees and uses the page. It is always offered.
//
// # Guarantees
//
//   - Each change of the files is a revision: durable when the action returns, then shown
//     in every open View at its scroll position. A page in which the person typed asks
//     them first, because loading it again discards what they typed.
//   - The last 50 revisions are kept. The person sees who changed what and when, and can
//     go back, which is a new revision and the event
//     {"type":"page.reverted","to":3,"revision":8,"by":"person"}.
//   - The shared state (state of /.ahp/canvas.js) has one order of changes for all Views,
//     is durable before any View sees a change, and survives restarts and revisions.
//   - A page reaches only its own files. An address elsewhere is blocked, and the agent
//     receives {"type":"page.blocked","url":…,"revision":…,"text":…} once per revision.
//   - A message that the page sends is the event {"message":value}.
//
// # Files
//
// A file is a blob with the SHA-256 of its content as its name, in a folder of its
// instance: <dir>/<hash of session and instance id>/. A revision is saved with the
// instance; it has its files as path, hash and size, or, if they take more than 2 KiB, the
// hash of a blob with them. So an open, its revision and its saved data are one commit of
// the host, and a blob is on the disk before a revision names it.
//
// Blobs that no kept revision names are removed when a revision is dropped, and when the
// instance is opened. The folder of an instance is removed when its handle has ended and
// the host does not list it any more; [Provider.Collect] removes those that a killed
// process left. owner.json says whose folder it is.
//
// The host keeps {title} as the instance's input, not the files (canvas.Opened).
//
// # The page's script
//
// The provider inserts page/page.js into each HTML document, with the revision in
// data-ahp-page. It and the provider exchange these canvas/message payloads:
//
//	View      {"x-ahp-page":"hello"}                                  asks for what follows
//	provider  {"x-ahp-page":"welcome","revision":7,"tools":true}      the current revision
//	provider  {"x-ahp-page":"state","values":{…},"delete":[…]}        the shared state, or a change of it
//	provider  {"x-ahp-page":"ready"}                                  the state is complete
//	provider  {"x-ahp-page":"changed","revision":8,"by":"agent","what":"Edited app.js"}
//	View      {"x-ahp-page":"load"}                                   load this page again (view/1)
//	View      {"x-ahp-page":"asking"}                                 the person is asked
//	View      {"x-ahp-page":"set","ref":1,"values":{…},"delete":[…]}  changes the shared state
//	View      {"x-ahp-page":"history","ref":2}                        asks for the revisions
//	View      {"x-ahp-page":"revert","ref":3,"revision":5}
//	View      {"x-ahp-page":"blocked","url":"https://cdn.example/x.js"}
//	provider  {"x-ahp-page":"history","ref":2,"revision":8,"revisions":[…]}
//	provider  {"x-ahp-page":"done","ref":3}
//	provider  {"x-ahp-page":"refused","ref":3,"message":"…"}
//	provider  {"x-ahp-page":"export","name":"app.zip",…}              offers a download
//	View      {"x-ahp-page":"taken"}                                  the person took or dismissed it
//
// A page that does not answer "changed" within 3 s is loaded again without being asked:
// its script hangs or failed. A page that has not even connected is loaded again by the
// renderer when it receives "changed".
//
// # Limits
//
// 240 KiB in one call; 200 files, 2 MiB a file, 8 MiB an instance; paths of 200 bytes, by
// the rules of content paths (canvas/PROTOCOL.md section 6); 64 KiB of shared state. Kept
// revisions have at most 64 MiB of different contents and 250 KiB of saved data; beyond
// either, the oldest ones are dropped sooner. Files of write_files with more: true are in
// memory until the call that shows them.
//
// # Ownership
//
// A Provider has goroutines that remove folders; Close waits for them. An instance has a
// timer while pages have not answered a change. The mutex of an instance is held while a
// change is stored and posted, so that all Views see the same order.
//
// The package imports canvas, canvas/view and ahp.
package page
