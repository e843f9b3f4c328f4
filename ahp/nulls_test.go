package ahp_test

import (
	"reflect"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

type inner struct {
	Name string   `json:"name"`
	Text *string  `json:"text,omitzero"`
	List []string `json:"list"`
}

type outer struct {
	Title  ahp.Field[string] `json:"title,omitzero"`
	Opaque ahp.Value         `json:"opaque,omitzero"`
	Inner  *inner            `json:"inner,omitzero"`
	Items  []inner           `json:"items,omitzero"`
	ByName map[string]inner  `json:"byName,omitzero"`
	Extra  ahp.Value         `json:",embed"`
}

// TestWithoutNulls: nulls that mean absence are left out at every depth; the others stay,
// and so does all other text.
func TestWithoutNulls(t *testing.T) {
	for raw, want := range map[string]string{
		`{ "title" : "no NULLs", "a":1.0 }`:                                                   `{ "title" : "no NULLs", "a":1.0 }`,
		`{"inner":null,"items":null,"byName":null}`:                                           `{}`,
		`{"title":null,"opaque":null,"other":null,"inner":null}`:                              `{"title":null,"opaque":null,"other":null}`,
		`{"\u0069nner":null,"opaque":{"inner":null},"x":[null,{"a":null}]}`:                   `{"opaque":{"inner":null},"x":[null,{"a":null}]}`,
		`{"items":[{"name":"a","text":null,"list":null},{"name":"null","list":[],"n":1.50}]}`: `{"items":[{"name":"a","list":[]},{"name":"null","list":[],"n":1.50}]}`,
		`{"byName":{"text":{"list":null,"name":"a"}},"inner":{"list":null,"name":"b"}}`:       `{"byName":{"text":{"list":[],"name":"a"}},"inner":{"list":[],"name":"b"}}`,
	} {
		have := ahp.WithoutNulls(ahp.Value(raw), reflect.TypeFor[outer]())
		if string(have) != want {
			t.Errorf("%s: have %s, want %s", raw, have, want)
		}
		var before, after outer
		if err := ahp.Unmarshal(ahp.Value(raw), &before); err != nil {
			t.Fatal(err)
		}
		if err := ahp.Unmarshal(have, &after); err != nil || string(ahp.MustMarshal(before)) != string(ahp.MustMarshal(after)) {
			t.Errorf("%s: %v: decodes to %s, then to %s", raw, err, ahp.MustMarshal(before), ahp.MustMarshal(after))
		}
	}
}
