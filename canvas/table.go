package canvas

import "github.com/ahp-canvas/ahp-canvas/ahp"

// Methods is the table of the methods that this package declares.
var Methods = []ahp.MethodRow{
	CanvasReadResource.Row(), CanvasOpen.Row(), CanvasInvokeAction.Row(), CanvasClose.Row(),
}

// DefaultLimits returns the limits that a zero [Limits] stands for.
func DefaultLimits() Limits { return Limits{}.WithDefaults() }

// InstanceIDPattern is what an instance id looks like: RE2, and ECMAScript too.
func InstanceIDPattern() string { return instancePattern }
