package a2ui_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

const created = `{"version":"v0.9","createSurface":{"surfaceId":"s","catalogId":"` + a2ui.BasicCatalogID + `"}}`

// components returns an updateComponents of surface s.
func components(list string) string {
	return `{"version":"v0.9","updateComponents":{"surfaceId":"s","components":[` + list + `]}}`
}

// model returns an updateDataModel of surface s. Without a value it removes.
func model(path, value string) string {
	if value != "" {
		value = `,"value":` + value
	}
	return `{"version":"v0.9","updateDataModel":{"surfaceId":"s","path":` + string(ahp.MustMarshal(path)) + value + `}}`
}

// apply applies messages to surfaces, as owner "o".
func apply(s *a2ui.Surfaces, messages ...string) a2ui.Result {
	var list []ahp.Value
	for _, m := range messages {
		list = append(list, ahp.Value(m))
	}
	return s.Apply("o", list)
}

// made returns surfaces with an empty surface s.
func made(t testing.TB, messages ...string) *a2ui.Surfaces {
	t.Helper()
	s := a2ui.NewSurfaces(a2ui.Limits{})
	if r := apply(s, append([]string{created}, messages...)...); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	return s
}

// TestMessages: every wrapping that agents use, and what is none (rule 6).
func TestMessages(t *testing.T) {
	t.Parallel()
	quoted := string(ahp.MustMarshal(`[` + created + `]`))
	for given, want := range map[string]int{
		created:                                 1,
		`[` + created + `,` + created + `]`:     2,
		`[]`:                                    0,
		`{"messages":[` + created + `]}`:        1,
		`{"messages":` + created + `}`:          1,
		`{"\u006dessages":[` + created + `]}`:   1, // a name with an escape
		`{"a2ui_operations":[` + created + `]}`: 1,
		`{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":[` + created + `]}`:                            1,
		`{"kind":"data","metadata":{"mimeType":"application/a2ui+json"},"data":` + created + `}`:                              1,
		`{"data":` + created + `,"mediaType":"application/a2ui+json; charset=utf-8"}`:                                         1,
		`[{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":` + created + `},` + created + `]`:            2,
		`{"type":"resource","resource":{"uri":"a2ui://x","mimeType":"application/a2ui+json","text":` + quoted + `}}`:          1,
		`{"type":"resource","resource":{"mimeType":"application/json+a2ui","text":` + string(ahp.MustMarshal(created)) + `}}`: 1,
		`{"userAction":1}`: 1, // one message, which Apply refuses
	} {
		list, err := a2ui.Messages(ahp.Value(given))
		if err != nil || len(list) != want {
			t.Errorf("%s: %d messages, %v; want %d", given, len(list), err, want)
		}
		if want > 0 && !strings.Contains(given, "userAction") && !ahp.Equal(list[0], ahp.Value(created)) {
			t.Errorf("%s: %s", given, list[0])
		}
	}
	for given, want := range map[string]string{
		`"x"`:               "",
		`1`:                 "",
		`{"messages":"x"}`:  "/messages",
		`{"messages":null}`: "/messages",
		`{"a":1,"a":2}`:     "",
		`{"kind":"data","metadata":{"mimeType":"text/plain"},"data":[]}`: "",
		`[1,{"data":[]}]`: "/1",
		`{"resource":{"mimeType":"text/html","text":"[]"}}`:                   "/resource/mimeType",
		`{"resource":{"mimeType":"application/a2ui+json","text":"{"}}`:        "/resource/text",
		`{"resource":{"mimeType":"application/a2ui+json"}}`:                   "/resource/text",
		`{"messages":{"messages":{"messages":{"messages":{"messages":[]}}}}}`: "/messages/messages/messages/messages",
		"[\"\xff\"]": "",
	} {
		_, err := a2ui.Messages(ahp.Value(given))
		if e, ok := errors.AsType[*a2ui.Error](err); !ok || e.Code != a2ui.CodeValidationFailed || e.Path != want {
			t.Errorf("%s: %v, want path %q", given, err, want)
		}
	}
}

// TestVersions: v0.9 and v0.9.1 are one format; the output keeps the version (rules 1 to 3).
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, version := range a2ui.Versions() {
		s := a2ui.NewSurfaces(a2ui.Limits{})
		r := apply(s, strings.ReplaceAll(created, "v0.9", version))
		r2 := apply(s, strings.ReplaceAll(components(`{"id":"root","component":"Divider"}`), "v0.9", version))
		if len(r.Errors)+len(r2.Errors) > 0 || !strings.Contains(string(r.Out[0]), `"version":"`+version+`"`) {
			t.Errorf("%s: %v %v %s", version, r.Errors, r2.Errors, r.Out)
		}
		if info, _ := s.Surface("s"); info.Version != version {
			t.Errorf("%s: the surface has %s", version, info.Version)
		}
		if got := s.DataModel("o", version); got != nil {
			t.Errorf("a surface that does not sync has the model %s", got)
		}
	}
	for _, version := range []string{`"v0.8"`, `"v0.10"`, `"v1.0"`, `"0.9"`, `9`, `null`} {
		r := apply(a2ui.NewSurfaces(a2ui.Limits{}), strings.Replace(created, `"v0.9"`, version, 1))
		if len(r.Errors) != 1 || r.Errors[0].Code != a2ui.CodeVersionUnsupported || r.Errors[0].Path != "/version" {
			t.Errorf("%s: %v", version, r.Errors)
		}
	}
}

// TestStructure: what the schemas cannot express (rule 9).
func TestStructure(t *testing.T) {
	t.Parallel()
	text := func(id string) string { return `{"id":"` + id + `","component":"Text","text":"x"}` }
	card := func(id, child string) string { return `{"id":"` + id + `","component":"Card","child":"` + child + `"}` }
	calls := func(n int) string {
		return strings.Repeat(`{"call":"not","args":{"value":`, n) + `true` + strings.Repeat(`}}`, n)
	}
	checkbox := func(n int) string {
		return `{"id":"root","component":"CheckBox","label":"x","value":true,"checks":[{"condition":` + calls(n) + `,"message":"m"}]}`
	}
	chain := func(n int) string {
		var all []string
		for i := range n - 1 {
			id := fmt.Sprintf("c%d", i)
			if i == 0 {
				id = "root"
			}
			all = append(all, card(id, fmt.Sprintf("c%d", i+1)))
		}
		return strings.Join(append(all, text(fmt.Sprintf("c%d", n-1))), ",")
	}
	for _, c := range []struct{ list, path, words string }{
		{text("root"), "", ""},
		{text("root") + `,` + text("root"), "/updateComponents/components/1/id", "is in the message twice"},
		{card("root", "root"), "/updateComponents/components/0", "names itself"},
		{card("root", "a") + `,` + card("a", "b") + `,` + card("b", "root"), "/updateComponents/components/0", "circle"},
		{`{"id":"root","component":"List","children":{"componentId":"root","path":"/x"}}`, "/updateComponents/components/0", "names itself"},
		{`{"id":"root","component":"Tabs","tabs":[{"title":"x","child":"root"}]}`, "/updateComponents/components/0", "names itself"},
		{`{"id":"root","component":"Modal","trigger":"a","content":"root"}`, "/updateComponents/components/0", "names itself"},
		{checkbox(5), "", ""},
		{checkbox(6), "/updateComponents/components/0/checks/0/condition/args/value/args/value/args/value/args/value/args/value", "more than 5"},
		{chain(50), "", ""},
		{chain(51), "/updateComponents/components/0", "more than 50"},
		{`{"id":"root","component":"Text","text":{"path":"/a~2"}}`, "/updateComponents/components/0/text/path", "neither ~0 nor ~1"},
		{`{"id":"root","component":"Text","text":{"path":"/constructor/prototype/x"}}`, "/updateComponents/components/0/text/path", "not allowed"},
		{`{"id":"root","component":"Text","text":{"path":"/` + strings.Repeat("x", 1024) + `"}}`, "/updateComponents/components/0/text/path", "1025 bytes"},
	} {
		r := apply(made(t), components(c.list))
		if c.words == "" {
			if len(r.Errors) > 0 {
				t.Errorf("%.100s: %v", c.list, r.Errors)
			}
			continue
		}
		if len(r.Errors) != 1 || r.Errors[0].Path != c.path || !strings.Contains(r.Errors[0].Message, c.words) {
			t.Errorf("%.100s: %v, want %s %s", c.list, r.Errors, c.path, c.words)
		}
	}
	// A circle over two messages; the surface stays as it was.
	s := made(t, components(card("root", "a")), components(text("a")))
	before := s.Save()
	if r := apply(s, components(card("a", "root"))); len(r.Errors) != 1 || string(s.Save()) != string(before) {
		t.Errorf("a circle over two messages: %v", r.Errors)
	}
	// What a stream might still bring.
	for list, words := range map[string]string{text("a"): `no component "root" yet`, card("root", "a"): `names "a", which has not come yet`, text("root") + `,` + text("b"): `"b" is not below root`} {
		r := apply(made(t), components(list))
		if len(r.Errors) > 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, words) {
			t.Errorf("%s: %v, %v", list, r.Errors, r.Warnings)
		}
	}
}

// TestData: pointers, holes, digits (rules 10 and 11), and prototypes.
func TestData(t *testing.T) {
	t.Parallel()
	start := model("/", `{"list":[1,2,3],"n":1.10,"big":123456789012345678901234567890,"o":{"k":null}}`)
	for _, c := range []struct{ path, value, want string }{
		{"/list/1", "", `"list":[1,null,3]`},
		{"/o/k", "", `"o":{}`},
		{"/o", "", `"n":1.10}`},
		{"/list/5", "9", `"list":[1,2,3,null,null,9]`},
		{"/new/0/x", "1", `"new":[{"x":1}]`},
		{"/o/k/deep", "1", `"o":{"k":{"deep":1}}`},
		{"/o/", "1", `"o":1`},
		{"/a~1b~0", "1", `"a/b~":1`},
		{"", `{"x":1.0}`, `{"x":1.0}`},
		{"/", "", `{}`},
		{"/o/x", `-0.5e-3`, `"x":-0.5e-3`},
	} {
		s := made(t, start)
		if r := apply(s, model(c.path, c.value)); len(r.Errors) > 0 || !strings.Contains(string(s.Model("s")), c.want) {
			t.Errorf("%s %s: %v, %s", c.path, c.value, r.Errors, s.Model("s"))
		}
	}
	for path, words := range map[string]string{
		"/n/x": "leads through 1.10", "/list/x": "want a number", "/list/-": "want a number", "/list/01": "want a number",
		"/list/16384": "at most 16383", "/list/99999999999999999999": "at most 16383", "/__proto__/x": "not allowed", "/constructor/prototype/x": "not allowed",
		"/o/prototype": "not allowed", "/a~": "neither ~0 nor ~1",
	} {
		s := made(t, start)
		before := s.Model("s")
		r := apply(s, model(path, "1"))
		if len(r.Errors) != 1 || r.Errors[0].Code != a2ui.CodeDataPath || r.Errors[0].Path != "/updateDataModel/path" || !strings.Contains(r.Errors[0].Message, words) || string(s.Model("s")) != string(before) {
			t.Errorf("%s: %v", path, r.Errors)
		}
	}
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	if r := apply(made(t), model("/", deep(50))); len(r.Errors) > 0 {
		t.Errorf("50 levels: %v", r.Errors)
	}
	if r := apply(made(t), model("/", deep(51))); len(r.Errors) != 1 || r.Errors[0].Code != a2ui.CodeValidationFailed {
		t.Errorf("51 levels: %v", r.Errors)
	}
	if r := apply(made(t, model("/", deep(49))), model("/b/b", deep(49))); len(r.Errors) != 1 {
		t.Error("51 levels in two steps")
	}
	// A surface that was deleted can be created again in one list, and has nothing left.
	s := made(t, start)
	if r := apply(s, `{"version":"v0.9","deleteSurface":{"surfaceId":"s"}}`, created, `{"version":"v0.9","deleteSurface":{"surfaceId":"unknown"}}`); len(r.Errors) > 0 || string(s.Model("s")) != "{}" {
		t.Errorf("deleted and created: %v, %s", r.Errors, s.Model("s"))
	}
}

// TestLimits: each limit, and one above.
func TestLimits(t *testing.T) {
	t.Parallel()
	syncing := strings.Replace(created, `"catalogId"`, `"sendDataModel":true,"catalogId"`, 1)
	many := func(from, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"id":"c%d","component":"Divider"}`, from+i))
		}
		return components(strings.Join(all, ","))
	}
	str := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	surfaces := func(n int) (all []string) {
		for i := range n {
			all = append(all, strings.Replace(created, `"s"`, fmt.Sprintf(`"s%d"`, i), 1))
		}
		return all
	}
	for name, c := range map[string]struct{ at, above []string }{
		"surfaces":   {surfaces(16), surfaces(17)},
		"components": {[]string{created, many(0, 1000), many(1000, 1000)}, []string{created, many(0, 1000), many(1000, 1001)}},
		"string":     {[]string{created, model("/a", str(32<<10))}, []string{created, model("/a", str(32<<10+1))}},
		"pointer":    {[]string{created, model("/"+strings.Repeat("p", 1023), "1")}, []string{created, model("/"+strings.Repeat("p", 1024), "1")}},
		"sync":       {[]string{syncing, model("/a", str(24<<10-20)), model("/b", str(24<<10-20))}, []string{syncing, model("/a", str(24<<10)), model("/b", str(24<<10))}},
		"model": {[]string{created, model("/a", str(30<<10)), model("/b", str(30<<10)), model("/c", str(30<<10)), model("/d", str(30<<10)), model("/e", str(30<<10))},
			[]string{created, model("/a", str(30<<10)), model("/b", str(30<<10)), model("/c", str(30<<10)), model("/d", str(30<<10)), model("/e", str(30<<10)), model("/f", str(10<<10))}},
		"message": {[]string{created, components(pad(60<<10 - len(components(""))))}, []string{created, components(pad(60<<10 - len(components("")) + 1))}},
	} {
		s := a2ui.NewSurfaces(a2ui.Limits{})
		if r := apply(s, c.at...); len(r.Errors) > 0 {
			t.Errorf("%s: %v", name, r.Errors)
		}
		replays(t, s)
		s = a2ui.NewSurfaces(a2ui.Limits{})
		if r := apply(s, c.above...); len(r.Errors) != 1 || r.Errors[0].Code != a2ui.CodeTooLarge || r.Errors[0].Index != len(c.above)-1 {
			t.Errorf("one above %s: %v", name, r.Errors)
		}
		replays(t, s)
	}
	// 10,000 components in 200 messages, a model of 16,384 values.
	s := made(t)
	failed := 0
	for n := range 200 {
		failed += len(apply(s, many(n*50, 50)).Errors)
	}
	if info, _ := s.Surface("s"); info.Components != 2000 || failed != 160 {
		t.Errorf("%d components, %d messages failed", info.Components, failed)
	}
	if r := apply(made(t), model("/", "["+strings.Repeat("1,", 16383)+"1]")); len(r.Errors) > 0 {
		t.Errorf("16,384 values: %v", r.Errors)
	}
	// Everything together.
	s = a2ui.NewSurfaces(a2ui.Limits{})
	var r a2ui.Result
	for n := range 9 {
		id := fmt.Sprintf(`"s%d"`, n)
		r = apply(s, strings.Replace(created, `"s"`, id, 1), strings.Replace(model("/a", str(30<<10)), `"s"`, id, 1))
	}
	if len(r.Errors) != 1 || r.Errors[0].Code != a2ui.CodeTooLarge || s.Bytes() > 240<<10 {
		t.Errorf("%d bytes: %v", s.Bytes(), r.Errors)
	}
	if n := len(s.Save()); n > s.Bytes() {
		t.Errorf("saved %d bytes, counted %d", n, s.Bytes())
	}
}

// pad returns a component of n bytes.
func pad(n int) string {
	const rest = `{"id":"root","component":"Row","children":[]}`
	n -= len(rest)
	var ids []string
	for n > 0 {
		size := min(n, 30<<10)
		if n-size < 4 && n != size {
			size -= 8
		}
		used := size
		if len(ids) > 0 {
			used--
		}
		ids = append(ids, `"`+strings.Repeat("x", used-2)+`"`)
		n -= size
	}
	return strings.Replace(rest, "[]", "["+strings.Join(ids, ",")+"]", 1)
}

// replays checks that a replay fits its parts and draws the same.
func replays(t *testing.T, s *a2ui.Surfaces) {
	t.Helper()
	again := a2ui.NewSurfaces(a2ui.Limits{})
	for _, batch := range s.Replay() {
		if n := len(ahp.MustMarshal(batch)) - len("[]"); n > 60<<10 {
			t.Errorf("a batch has %d bytes", n)
		}
		if r := again.Apply("o", batch); len(r.Errors) > 0 {
			t.Errorf("the replay: %.300v", r.Errors)
		}
	}
	if string(again.Save()) != string(s.Save()) {
		t.Errorf("the replay draws %.200s, want %.200s", again.Save(), s.Save())
	}
}

// TestReplayCut: large models are cut so that each message fits, whatever their form.
func TestReplayCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20<<10)
	for _, messages := range [][]string{
		{model("/list/0/text", `"`+long+`"`), model("/list/1/text", `"`+long+`"`), model("/list/2/text", `"`+long+`"`), model("/list/3", `"`+long+`"`)},
		{model("/o/0", `"`+long+`"`), model("/o/1", `"`+long+`"`), model("/o/2", `"`+long+`"`), model("/o/3", `"`+long+`"`)},
		{model("/o", `{"0":"`+long+`","":1,"x/y~z":"`+long+`"}`), model("/o/2", `"`+long+`"`), model("/o/3", `"`+long+`"`)},
		{model("/o", `{"__proto__":{"a":1},"a":"`+long+`"}`), model("/o/b", `"`+long+`"`), model("/o/c", `"`+long+`"`)},
		{model("/", `[[["`+long+`"],"`+long+`"]]`), model("/0/0/1", `"`+long+`"`), model("/0/2", `"`+long+`"`), model("/1", `"`+long+`"`)},
	} {
		replays(t, made(t, messages...))
	}
	// A member that no pointer reaches cannot be cut: what would not fit is refused.
	s := made(t, model("/o", `{"":{"a":"`+long+`","b":"`+long+`"}}`))
	r := apply(s, model("/p", `{"":{"a":"`+long+`","b":"`+long+`"}}`))
	if len(r.Errors) > 0 {
		t.Errorf("two objects that fit: %v", r.Errors)
	}
	replays(t, s)
}

// TestOwnersApply: another owner's surface is unknown, and its id is taken.
func TestOwnersApply(t *testing.T) {
	t.Parallel()
	s := made(t)
	for message, code := range map[string]string{model("/x", "1"): a2ui.CodeSurfaceNotFound, components(`{"id":"root","component":"Divider"}`): a2ui.CodeSurfaceNotFound, created: a2ui.CodeSurfaceExists} {
		r := s.Apply("other", []ahp.Value{ahp.Value(message)})
		if len(r.Errors) != 1 || r.Errors[0].Code != code {
			t.Errorf("%s: %v", message, r.Errors)
		}
	}
	if r := s.Apply("other", []ahp.Value{ahp.Value(`{"version":"v0.9","deleteSurface":{"surfaceId":"s"}}`)}); len(r.Errors) > 0 || len(s.List()) != 1 {
		t.Errorf("deleted by another owner: %v", s.List())
	}
}

// TestCatalogSpellings: the ids by which documents name the basic catalog (rule 8).
func TestCatalogSpellings(t *testing.T) {
	t.Parallel()
	for n, id := range a2ui.BasicCatalogIDs() {
		r := apply(a2ui.NewSurfaces(a2ui.Limits{}), strings.Replace(created, a2ui.BasicCatalogID, id, 1))
		if r.Applied != 1 || len(r.Warnings) != min(n, 1) || !strings.Contains(string(r.Out[0]), `"catalogId":"`+a2ui.BasicCatalogID+`"`) {
			t.Errorf("%s: %+v", id, r)
		}
	}
	if got := string(a2ui.Capabilities()); strings.Count(got, "https://") != 3 {
		t.Errorf("capabilities %s", got)
	}
}

// TestClone: a copy is independent.
func TestClone(t *testing.T) {
	t.Parallel()
	s := made(t, components(`{"id":"root","component":"Divider"}`), model("/a", `[1]`))
	before := string(s.Save())
	c := s.Clone()
	apply(c, components(`{"id":"root","component":"Text","text":"x"},{"id":"b","component":"Divider"}`), model("/a/0", `2`), strings.Replace(created, `"s"`, `"t"`, 1))
	if string(s.Save()) != before || string(c.Save()) == before {
		t.Errorf("the original is %s", s.Save())
	}
}
