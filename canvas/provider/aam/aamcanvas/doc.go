// Package aamcanvas has the canvases of AAM, with which a person decides what agents do in
// their name:
//
//   - aam-site is a web site that the session's agent uses: what it asks for, payments,
//     and a log (package aam).
//   - aam-agents is this host as a site: which agents of other people use its canvases
//     (package site).
//
// # Secrets
//
// A PIN, a code and a credential travel from a page to the provider as [Sealed]: a View's
// message is kept and sent again to a client that reconnects under the View's id. Nothing
// that a View receives from the handle's Post, and nothing that is saved or raised, has a
// secret.
//
// What costs money or lets others in needs the [PIN] that a person set at a terminal: an
// agent knows the page's link, so a decision of a page alone does not show that a person
// made it.
//
// The package imports ahp, canvas, canvas/view, package sample, and the cores of AAM.
package aamcanvas
