package ahp

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Name string `json:"name"`
	Note string `json:"note,omitzero"`
}

type sample struct {
	Channel string           `json:"channel"`
	Count   int64            `json:"count,omitzero"`
	Payload Value            `json:"payload"`
	Inner   *inner           `json:"inner,omitzero"`
	List    []inner          `json:"list,omitzero"`
	Named   map[string]inner `json:"named,omitzero"`
	Title   Field[string]    `json:"title,omitzero"`
	Extra   Value            `json:",embed"`
}

func TestUnmarshalIsStrict(t *testing.T) {
	for _, tc := range []struct{ name, in, err string }{
		{"good", `{"channel":"c","payload":1}`, ""},
		{"opaque null is a value", `{"channel":"c","payload":null}`, ""},
		{"missing", `{"payload":1}`, "/channel: required"},
		{"null is missing", `{"channel":null,"payload":1}`, "/channel: required"},
		{"case variant is unknown", `{"Channel":"c","payload":1}`, "/channel: required"},
		{"missing opaque", `{"channel":"c"}`, "/payload: required"},
		{"optional null is absent", `{"channel":"c","payload":1,"inner":null}`, ""},
		{"missing below", `{"channel":"c","payload":1,"inner":{"note":"n"}}`, "/inner/name: required"},
		{"missing in empty object", `{"channel":"c","payload":1,"inner":{}}`, "/inner/name: required"},
		{"missing in element", `{"channel":"c","payload":1,"list":[{"name":"a"},{}]}`, "/list/1/name: required"},
		{"missing in value", `{"channel":"c","payload":1,"named":{"a~/b":{}}}`, "/named/a~0~1b/name: required"},
		{"wrong type", `{"channel":1,"payload":1}`, "/channel: want a string, have a number"},
		{"wrong type below", `{"channel":"c","payload":1,"list":[{"name":true}]}`, "/list/0/name: want a string, have a boolean"},
		{"not an integer", `{"channel":"c","payload":1,"count":1.5}`, "/count: want an integer, have a number of another form"},
		{"duplicate", `{"channel":"c","channel":"d","payload":1}`, `invalid JSON at byte 15: duplicate object member name`},
		{"duplicate in opaque", `{"channel":"c","payload":{"a":1,"a":2}}`, `invalid JSON at byte 32: duplicate object member name`},
		{"broken UTF-8", "{\"channel\":\"\xff\",\"payload\":1}", "invalid JSON at byte 12: invalid UTF-8"},
		{"not an object", `[]`, "/: want an object, have an array"},
		{"null", `null`, "/: want an object, have null"},
		{"null element", `{"channel":"c","payload":1,"list":[{"name":"a"},null]}`, "/list/1: want an object, have null"},
		{"null value", `{"channel":"c","payload":1,"named":{"a":null}}`, "/named/a: want an object, have null"},
		{"trailing", `{"channel":"c","payload":1} x`, "invalid JSON at byte 28: invalid character 'x' after top-level value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s sample
			got := ""
			if err := Unmarshal([]byte(tc.in), &s); err != nil {
				got = err.Error()
			}
			if got != tc.err {
				t.Errorf("error %q, want %q", got, tc.err)
			}
		})
	}
}

func TestUnknownMembersAndNumbersSurvive(t *testing.T) {
	in := `{"channel":"c","payload":{"n":9007199254740993,"z":1.50},"title":null,"later":{"x":1e400}}`
	var s sample
	if err := Unmarshal([]byte(in), &s); err != nil {
		t.Fatal(err)
	}
	if !s.Title.Present || s.Title.Value != nil {
		t.Errorf("title = %+v, want a present null", s.Title)
	}
	if diff := cmp.Diff(in, string(MustMarshal(s))); diff != "" {
		t.Errorf("round trip (-want +got):\n%s", diff)
	}
}

func TestEqualIsExact(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[2]}`, ` { "b" : [ 2 ], "a" : 1 } `, true},
		{`"A"`, `"\u0041"`, true},
		{`9007199254740993`, `9007199254740992`, false},
		{`1`, `1.0`, false}, // a provider might tell them apart
		{`{"a":null}`, `{}`, false},
		{`[1,2]`, `[2,1]`, false},
		{``, ``, true},
		{``, `null`, false},
	} {
		if got := Equal(Value(tc.a), Value(tc.b)); got != tc.want {
			t.Errorf("Equal(%s, %s) = %v", tc.a, tc.b, got)
		}
	}
}

// FuzzUnmarshal: an accepted value encodes to an accepted, equal value. Texts that
// two peers decode differently would be a security hole.
func FuzzUnmarshal(f *testing.F) {
	f.Add([]byte(`{"channel":"c","payload":{"a":[1,2]},"title":null,"list":[{"name":"x"}]}`))
	f.Add([]byte(`{"channel":"\ud800","payload":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s sample
		if Unmarshal(data, &s) != nil {
			return
		}
		once := MustMarshal(s)
		var again sample
		if err := Unmarshal(once, &again); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := MustMarshal(again); !bytes.Equal(once, twice) {
			t.Fatalf("%s becomes %s", once, twice)
		}
	})
}
