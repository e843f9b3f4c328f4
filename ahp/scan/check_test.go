package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// members are the members of a top object, by name.
type members map[string]string

func (m members) Member(name, value []byte) { m[string(name)] = string(value) }

// FuzzScan: Check accepts what the strict decoder accepts, and finds the same
// members.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		``, " \n", `{"id":1,"method":"x"`, `{"id":1} {}`, `{"id":1,}`, `{"id":01}`, "\uFEFF{}", `{'id':'2.0'}`, "{\"a\":\"a\nb\"}", `{"a":"\x41"}`, `[{]`,
		"{\"a\":\"\xff\"}", "{\"a\":\"\xc0\xaf\"}", `{"a":"\ud800"}`, `{"id":1,"id":2}`, `{"a":[{"b":1,"b":1}]}`, `{"p":{"a":1,"\u0061":1}}`, `{` + numbered(100) + `,"m\u00373":0}`,
		`[]`, `"x"`, `1`, `null`, `{}`, `{"id":-1.0e3,"h":"<&>\u2028"}`, `{"\u006asonrpc":"2\u002e0","\u0069d":1}`, " \t\r\n{ \"a\" : \"2.0\" , \"id\" : 1 } ",
		`{"a":"\ud83d\ude00"}`, `{"a":"\udc00\ud800"}`, `[1e5,-0,0.1,1E+2]`, `{"":{"":1}}`, `{"a\u0000":1,"a\u0000":2}`, `-`, `"\u12`, `tru`, `{"a":1,"\ufffd":2,"�":3}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := members{}
		kind, err := scan.Check(data, scan.Limits{Depth: 1000, Values: -1}, got)
		var want ahp.Value
		wantErr := ahp.Unmarshal(data, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("Check: %v, decoder: %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if kind != byte(want.Kind()) && want.Kind() != '0' {
			t.Errorf("Check says that the value begins with %q, the decoder says %q", kind, want.Kind())
		}
		if kind != '{' {
			return
		}
		var decoded map[string]ahp.Value
		if err := ahp.Unmarshal(data, &decoded); err != nil {
			t.Fatal(err)
		}
		ref := members{}
		for name, value := range decoded {
			ref[name] = string(value)
		}
		if diff := cmp.Diff(ref, got); diff != "" {
			t.Error(diff)
		}
	})
}

// An object of many members takes linear time, and nesting no more stack than
// the limit allows.
func TestCheckHostile(t *testing.T) {
	if _, err := scan.Check([]byte(`{`+numbered(200000)+`}`), scan.Limits{Depth: 64, Values: -1}, members{}); err != nil {
		t.Error(err)
	}
	if _, err := scan.Check([]byte(strings.Repeat("[", 4<<20)), scan.Limits{Depth: 64, Values: -1}, members{}); err != scan.ErrDepth {
		t.Error(err)
	}
}

// OpenString finds the string value in which a text ends.
func TestOpenString(t *testing.T) {
	for _, c := range []struct {
		text, pointer string
		start         int
	}{
		{`{"id":7,"result":{"contents":[{},{"text":"abc`, "/result/contents/1/text", 41},
		{`{"a/b":{"~":"x`, "/a~1b/~0", 12},
		{`{"\u0061":"x`, "/a", 10},
		{`{"a":"x"`, "", 0},
		{`{"a":"x","b`, "", 0},
		{`{"a":12`, "", 0},
	} {
		got := members{}
		start, pointer := scan.OpenString([]byte(c.text), scan.Limits{Depth: 64, Values: -1}, got)
		if start != c.start || pointer != c.pointer {
			t.Errorf("%s: %d %q, want %d %q", c.text, start, pointer, c.start, c.pointer)
		}
		if c.pointer == "/result/contents/1/text" && got["id"] != "7" {
			t.Errorf("%s: the members before the string are %v", c.text, got)
		}
	}
}

// numbered returns n members with different names.
func numbered(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"m%d":0`, i))
	}
	return strings.Join(list, ",")
}
