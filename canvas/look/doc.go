// Package look renders a canvas in a headless browser of this machine, for an agent that
// wants to see what people see (canvas/PROTOCOL.md section 7.2).
//
// # What it promises
//
//   - One process of Chromium, started for the first look and ended after IdleTime without
//     one, and by [Browser.Close]. It has its own empty profile, which is removed with it.
//     Each look has its own cookies and storage in it.
//   - A tab for the next look is kept: the page of the same session, connected with the role
//     look, and an empty frame whose process and service worker run. A look names its canvas
//     to the page. Each tab is used once.
//   - At most two looks at a time; each ends within LookTime, the time to start apart. After
//     a look that did not end in time, the process is killed with its children.
//   - The browser reaches one address: that of the host's listener, at the names of the page
//     and its canvases. All its connections go through a gate in this process, which
//     refuses everything else; the browser itself resolves no names.
//   - A browser whose pages take more than MaxMemory of memory is killed. On Unix systems
//     other than Linux the limit is 3 GiB, because memory that its processes share counts
//     for each. On Windows only the JavaScript heap of a page has a limit, 512 MiB.
//
// A canvas cannot make the browser show another one: only the browser names a canvas to the
// host's page, which has a token of the role look.
//
// The package imports canvas, chromedp and the system calls that end a process group.
package look
