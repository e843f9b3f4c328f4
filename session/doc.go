// Package session has the root channel and the session channels: their states, their
// action tables, pure reducers, and the service that creates and removes sessions.
//
// # Guarantees
//
//   - States have the flat form of AHP 0.5.1 with every required member, and keep
//     unknown members. Parts that the host does not interpret stay raw JSON, so their
//     numbers keep every digit.
//   - Reducers are pure and agree with the upstream fixtures. In actions, null and an
//     absent member are the same. An action of an unknown type does not reach them.
//   - Creating a session, its notification on the root channel and the new count of
//     sessions are one transaction of the log. So are the steps of removing one.
//   - A change of a session's summary is announced to the subscribers of the root
//     channel in the same transaction (root/sessionSummaryChanged).
//
// # Canvases
//
// A session's state has the registry of canvases and the catalog of open ones, with an
// action each that replaces it (the Canvas proposal, #297, sections 2 and 7). This
// package stores and redacts them. The canvas engine decides what is in them; it is
// passed to the service as functions ([Options]) and never imported.
//
// # Persistence
//
// The creation and the removal of a session are committed to the store before any client
// can see them. Other changes of its state and its active clients follow within 50 ms
// (keep.go). [Service.Restore] restores sessions before the host serves.
//
// # Departures
//
// A member of a summary that was cleared (activity) is null in
// root/sessionSummaryChanged, because an absent member means that it has not changed.
//
// The package imports channels, ahp/budget and ahp.
package session
