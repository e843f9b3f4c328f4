package engine

import (
	"context"
	"testing"
)

// A lifetime's context is done once the lifetime has ended, whether it was created
// before or after the end.
func TestLifetime(t *testing.T) {
	service, stop := context.WithCancel(t.Context())
	defer stop()
	early, late, other := lifetime{engine: service}, lifetime{engine: service}, lifetime{engine: service}
	asked := early.context()
	if early.over() || asked.Err() != nil {
		t.Error("over before its end")
	}
	early.end()
	early.end()
	late.end()
	for name, l := range map[string]*lifetime{"asked for before": &early, "asked for after": &late} {
		if !l.over() || l.context().Err() == nil {
			t.Errorf("%s its end: over %v, context %v", name, l.over(), l.context().Err())
		}
	}
	if asked.Err() == nil {
		t.Error("the end did not cancel a context that existed before")
	}
	if other.over() {
		t.Error("it ended with another")
	}
	stop()
	if !other.over() || other.context().Err() == nil {
		t.Errorf("its service ended: over %v, context %v", other.over(), other.context().Err())
	}
}
