package session

import "github.com/ahp-canvas/ahp-canvas/ahp"

// Methods is the table of the methods and notifications of this package.
var Methods = []ahp.MethodRow{
	CreateSession.Row(), DisposeSession.Row(), ListSessions.Row(), ResolveSessionConfig.Row(), SessionConfigCompletions.Row(),
	SessionAdded.Row(), SessionRemoved.Row(), SessionSummaryChanged.Row(),
}
