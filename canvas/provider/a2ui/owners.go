package a2ui

import (
	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Owners says who created which surface.
type Owners map[string]string

// Strip returns an a2uiClientDataModel with the models of one owner's surfaces. Without an
// owner, or with one that is unknown, none is left. Other members stay, and so does a value
// without surfaces.
func (o Owners) Strip(model ahp.Value, owner string) ahp.Value {
	var m map[string]ahp.Value
	if model.Kind() != '{' || ahp.Unmarshal(model, &m) != nil {
		return ahp.Value("{}")
	}
	all, ok := m["surfaces"]
	if !ok {
		return model
	}
	var surfaces map[string]ahp.Value
	if all.Kind() == '{' {
		_ = ahp.Unmarshal(all, &surfaces) // model is valid
	}
	left := map[string]ahp.Value{}
	for id, v := range surfaces {
		if owner != "" && o[id] == owner {
			left[id] = v
		}
	}
	m["surfaces"] = ahp.MustMarshal(left)
	return ahp.MustMarshal(m)
}

// surfaceOf returns the surface of a client-to-server message; "" if it names none.
func surfaceOf(message map[string]any) string {
	for _, key := range []string{"action", "error"} {
		if id := str(object(message, key), "surfaceId"); id != "" {
			return id
		}
	}
	return ""
}
