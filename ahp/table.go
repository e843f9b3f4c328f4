package ahp

import "reflect"

// MethodRow is a method with the types of its params and result, for tables
// that are walked: the reference, the schemas and the coverage test.
type MethodRow struct {
	MethodInfo
	Params reflect.Type
	Result reflect.Type // nil of a notification; None where the answer is null
}

// Row returns the method as a row of a table.
func (m Method[P, R]) Row() MethodRow {
	return MethodRow{m.MethodInfo, reflect.TypeFor[P](), reflect.TypeFor[R]()}
}

// Row returns the notification as a row of a table.
func (n Notification[P]) Row() MethodRow {
	return MethodRow{MethodInfo: n.MethodInfo, Params: reflect.TypeFor[P]()}
}

// Methods is the table of the methods that this package declares.
var Methods = []MethodRow{
	Initialize.Row(), Ping.Row(), Reconnect.Row(), Subscribe.Row(),
	Unsubscribe.Row(), DispatchAction.Row(), ActionNotification.Row(),
	ResourceRead.Row(), ResourceRequest.Row(), ResourceResolve.Row(), ResourceList.Row(), Authenticate.Row(),
}
