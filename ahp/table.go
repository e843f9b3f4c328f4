package ahp

import "reflect"

// MethodRow is a method as a row of a table, from which the schemas and the
// coverage test are made.
type MethodRow struct {
	MethodInfo
	// Params is the type of the params.
	Params reflect.Type
	// Result is the type of the result: nil for a notification, None for null.
	Result reflect.Type
}

// Row returns the method as a row of a table.
func (m Method[P, R]) Row() MethodRow {
	return MethodRow{m.MethodInfo, reflect.TypeFor[P](), reflect.TypeFor[R]()}
}

// Row returns the notification as a row of a table.
func (n Notification[P]) Row() MethodRow {
	return MethodRow{MethodInfo: n.MethodInfo, Params: reflect.TypeFor[P]()}
}

// Methods lists the methods that this package declares.
var Methods = []MethodRow{
	Initialize.Row(), Ping.Row(), Reconnect.Row(), Subscribe.Row(),
	Unsubscribe.Row(), DispatchAction.Row(), ActionNotification.Row(), Moved.Row(),
	ResourceRead.Row(), ResourceRequest.Row(), ResourceResolve.Row(), ResourceList.Row(), Authenticate.Row(),
}
