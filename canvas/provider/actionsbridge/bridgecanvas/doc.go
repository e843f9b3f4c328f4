// Package bridgecanvas makes browser pages canvases of a host (package actionsbridge has
// the protocol). There are two ways:
//
//   - A page in a person's own browser dials the bridge. The canvas "browser" lists such
//     pages and lets a person decide about them; a canvas "browser-page" is one page, which
//     an agent works with. Their files are named browser….
//   - A folder with an index.html and an actions.json is a canvas whose declared actions are
//     the tools of actions.json; its page runs in a View. Its files are named folder….
//
// # Guarantees
//
//   - Letting in, refusing, disconnecting and allowing scripts are messages of a person's
//     View, never actions: no agent can do them.
//   - A browser-page is bound when it is opened. If its page is lost, the card is stale
//     until the same runtime returns, or one with its key and principal that arrives later:
//     never a twin that was there before.
//   - What comes from pages is data: it stands in one member of an event or a value, and
//     cards show it as text. URLs are shown without query and fragment.
//   - Nothing of a page is written to the disk, except the binding of an open browser-page:
//     ids and an origin.
//
// # Ownership
//
// A Provider has one goroutine, which updates cards at most twice a second, and one for
// each call that outlives its agent's wait; Provider.Close ends them and waits. A folder's
// goroutines end with its Close.
//
// The package imports ahp, canvas, canvas/inhead, canvas/provider/actionsbridge,
// canvas/provider/folder, canvas/provider/sample (the look of its page) and canvas/view.
package bridgecanvas
