package ahp

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type titled struct {
	Title string `json:"title"`
	Extra Value  `json:",embed"`
}

func (titled) ActionType() string { return "toy/titled" }

func (a titled) Validate() error {
	if a.Title == "bad" {
		return errors.New("/title: bad")
	}
	return nil
}

type empty struct{}

func (empty) ActionType() string { return "toy/empty" }

var toyTable = NewActionTable(
	Row[titled](FromHost|FromClient),
	Row[empty](FromHost, Since(V0_6_0), Gated("toys"), AsMessage()),
	AliasRow("toy/named", FromClient, func(a struct {
		Name string `json:"name"`
	}) (Action, error) {
		return titled{Title: a.Name}, nil
	}),
)

func TestDecodeAction(t *testing.T) {
	for _, tc := range []struct{ in, bytes, err string }{
		{`{"type":"toy/titled","title":"x","later":1e0}`, `{"type":"toy/titled","title":"x","later":1e0}`, ""},
		{`{"name":"x","type":"toy/named"}`, `{"type":"toy/titled","title":"x"}`, ""},
		{`{"type":"toy/empty"}`, `{"type":"toy/empty"}`, ""},
		{`{"type":"toy/titled"}`, "", "toy/titled: /title: required"},
		{`{"type":"toy/titled","title":"bad"}`, "", "toy/titled: /title: bad"},
		{`{"type":"toy/none"}`, "", `unknown action type "toy/none"`},
		{`{"type":"toy/none"`, "", "action: invalid JSON at byte 18: unexpected EOF"},
		{`{"type":"toy\/titled","title":"x"}`, `{"type":"toy\/titled","title":"x"}`, ""},
		{`{ "type":"toy/empty"}`, `{ "type":"toy/empty"}`, ""},
		{`{"type":"toy/titled","title":"x","type":"toy/empty"}`, "", "toy/titled: invalid JSON at byte 33: duplicate object member name"},
		{`{"type":"toy/empty","title":"x","type":"toy/titled"}`, "", "toy/empty: invalid JSON at byte 32: duplicate object member name"},
		{`{"type":"toy/empty`, "", "action: invalid JSON at byte 18: unexpected EOF"},
		{`{"type":"toy/empty"`, "", "toy/empty: invalid JSON at byte 19: unexpected EOF"},
		{`{"type":""}`, "", "action: /type: must not be empty"},
		{`{}`, "", "action: /type: required"},
		{`"toy/titled"`, "", "action: /: want an object, have a string"},
	} {
		enc, err := toyTable.Decode(Value(tc.in))
		if err != nil {
			if err.Error() != tc.err {
				t.Errorf("%s: error %q, want %q", tc.in, err, tc.err)
			}
			continue
		}
		if got := string(enc.Bytes()); tc.err != "" || got != tc.bytes {
			t.Errorf("%s: bytes %s, want %s", tc.in, got, tc.bytes)
		}
	}
}

func TestEncodeAction(t *testing.T) {
	for _, tc := range []struct {
		a    Action
		want string
	}{
		{titled{Title: "x"}, `{"type":"toy/titled","title":"x"}`},
		{titled{Title: "x", Extra: Value(`{"later":true}`)}, `{"type":"toy/titled","title":"x","later":true}`},
		{empty{}, `{"type":"toy/empty"}`},
	} {
		enc, err := toyTable.Encode(tc.a)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, string(enc.Bytes())); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzDecodeAction(f *testing.F) {
	f.Add([]byte(`{"type":"toy/titled","title":"x","later":1}`))
	f.Add([]byte(`{"name":"x","type":"toy/named"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		enc, err := toyTable.Decode(data)
		if err != nil {
			return
		}
		if _, err := toyTable.Decode(enc.Bytes()); err != nil {
			t.Fatalf("%s was accepted and its encoding is not: %v", data, err)
		}
	})
}
