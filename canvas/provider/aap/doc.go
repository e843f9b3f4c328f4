// Package aap implements AAP 1.0, Actions for AI Agents: an agent writes HTML pages into
// a folder, a person acts in them, and each action becomes one stored record that the
// agent reads. The package is usable alone, with net/http; package aapcanvas makes the
// pages canvases of a host.
//
// An agent is a folder. It writes pages to canvas/, and reads records from
// canvas/interactions/, one file each:
//
//	~/.aimaestro/agents/registry.json                                the agents, if the file exists
//	~/.aimaestro/agents/<id>/canvas/reports/dashboard.html           a page
//	~/.aimaestro/agents/<id>/canvas/interactions/<time>-<uuid>.json  a record
//
// # Guarantees
//
//   - A record that [Store.Submit] returned is on the disk: the file is synced, has its
//     name, and its folder is synced. A killed process leaves no half record; it can leave
//     a temporary file, which a later [Open] removes.
//   - A record never changes. The order of file names is the order of the timestamps,
//     which are unique and increasing for each agent and process. Other programs can write
//     into the same folder.
//   - An interaction that is sent again with the same ref is stored once, as long as the
//     process runs.
//   - Paths stay in the canvas folder, also through symbolic links, and also if a file is
//     replaced by a link meanwhile.
//   - A summary and a notification are one line without control characters, so they can be
//     typed into a terminal.
//   - The limits of package documentation and [Limits] hold for every way in.
//
// # HTTP
//
// [NewHandler] serves, below /api/agents/:
//
//	POST {id}/canvas/interactions                       201 {id, summary}
//	GET  {id}/canvas/interactions?limit=&before=&file=  200 {interactions: [...]}, the newest first
//	GET  {id}/canvas                                    200 {protocol, files: [{name, path, size, modifiedAt}]}
//	GET  {id}/canvas?file=reports/dashboard.html        the page
//
// {id} is an agent's id, name or alias. Errors are {error, message, field?}.
//
// # The bridge
//
// [Inject] puts the bridge into a page: the script that defines maestro.send. In a
// renderer of this project it sends each interaction until the host has stored it, and
// tells the person if that takes long. In any other it posts AAP's message to the parent
// window.
//
// # Where to look
//
// submit.go stores, list.go reads, watch.go finds changes, agents.go knows who there is,
// bridge.js is the script in the page. The package imports ahp, canvas/inhead and
// channels/groupcommit, and nothing of package canvas.
package aap
