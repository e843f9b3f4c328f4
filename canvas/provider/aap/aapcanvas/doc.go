// Package aapcanvas makes the pages of AAP agents canvases of a host (package aap has the
// protocol): aap-page is one page, aap-pages an agent's list of pages and its history.
//
// # Guarantees
//
//   - An aap-page serves its one document, with the bridge in it, and nothing else. The
//     page of a record is the instance's, never what a message says.
//   - A View learns "aap:stored" when the record is on the disk. A message that is sent
//     again with the same ref is stored once.
//   - The agent of the session gets one event for each record: of a click in a View in the
//     session of that View; of a record that came over HTTP in every session where the
//     page is open, otherwise in Options.Session.
//   - No message of a View writes a page. Only the agent's actions do.
//   - Title and status are one line of the host; a page cannot put markup or control
//     characters there.
//
// # Messages
//
// Payloads of canvas/message, all without the member x-ahp:
//
//	canvas:interaction {action, element?, data?, ref?}  a person's action; from a View
//	aap:stored {ref, id, summary}                       its answer
//	aap:refused {ref, error, message, field?}           likewise
//	aap:changed {removed?, version?}                    to all Views: the file has changed; version is the new one
//	aap:shown {version}                                 from a View whose page has loaded; answered with
//	                                                    aap:changed if the file has changed since
//	aap:load                                            from a View; answered with view/1 reload
//	aap:acknowledged {id, note?}                        to all Views: the agent has read a record
//	canvas:push {data}                                  to all Views: the agent's push
//	aap:hello, aap:open {file}, aap:older {before},
//	aap:agent {agent}                                   from the page of aap-pages
//	aap:state                                           its answer, and after changes
//
// # Ownership
//
// A Provider has one goroutine, which opens pages and refreshes lists. Provider.Close ends
// it and waits. What waits for it is a set, limited by the number of pages. The package
// logs failures without paths and texts.
//
// The package imports ahp, canvas, canvas/inhead, canvas/provider/aap,
// canvas/provider/sample (the look of its page) and canvas/view.
package aapcanvas
