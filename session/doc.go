// Package session is the root channel and the session channels: their state,
// their actions as tables, pure reducers, and the service that makes and ends
// sessions.
//
// # What it promises
//
//   - States are flat, as AHP 0.5.1 has them, with every required member, and
//     keep members that they do not know; parts that the host never looks into
//     stay raw JSON, so that their numbers keep every digit.
//   - Reducers are pure and equal to the upstream fixtures. null and absent are
//     the same in actions; an action type that is not in the table never
//     reaches them.
//   - Making a session, its catalogue notification and the count of active
//     sessions are one transaction of the log; so is ending one.
//   - A change of anything that a session's summary shows is told to the root
//     channel's subscribers in the same transaction (root/sessionSummaryChanged).
//
// # The Canvas surface in a session
//
// canvases and openCanvases are two fields with a full-replacement action each
// (#297 sections 2 and 7). This package stores and redacts them; what stands in
// them is the business of package canvas, which is handed to the service as
// functions ([Options]) and never imported.
//
// # Over a restart
//
// That a session was made, and that it was ended, is committed to the store before
// anybody sees it; what it shows and who takes part follows within 50 ms (keep.go).
// [Service.Restore] makes it again before the host serves.
//
// # Departures
//
// A cleared optional member of a summary (activity) is sent as null in
// root/sessionSummaryChanged: absent would mean unchanged.
//
// It imports channels and ahp.
package session
