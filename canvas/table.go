package canvas

import "github.com/ahp-canvas/ahp-canvas/ahp"

// Methods is the table of the methods of this package.
var Methods = []ahp.MethodRow{
	CanvasReadResource.Row(), CanvasOpen.Row(), CanvasInvokeAction.Row(), CanvasClose.Row(),
	CanvasSetPrivate.Row(), CanvasPeople.Row(), CanvasPersonOpen.Row(), CanvasUndoClose.Row(), CanvasHistory.Row(), CanvasInvite.Row(),
	CanvasDirect.Row(),
}

// DefaultLimits returns the default of each limit.
func DefaultLimits() Limits { return Limits{}.WithDefaults() }

// InstanceIDPattern returns a regular expression that matches instance ids. It is valid
// in RE2 and in ECMAScript.
func InstanceIDPattern() string { return instancePattern }
