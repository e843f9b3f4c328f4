package a2uicanvas_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
	"github.com/ahp-canvas/ahp-canvas/canvas/engine"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui/a2uicanvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// TestContract: the canvas fulfills the contract of every provider.
func TestContract(t *testing.T) {
	p := a2uicanvas.New(a2uicanvas.Options{})
	t.Cleanup(func() { _ = p.Close() })
	canvastest.TestProvider(t, canvastest.Config{
		Provider: p, Declaration: p.Declarations()[0],
		Input: ahp.Value(`{"messages":` + form + `}`), Other: ahp.Value(`{"title":"Other","messages":[` + surfaceTwo + `]}`), Kept: ahp.Value(`{"title":"Other"}`),
		Action: "get_surfaces", ActionInput: ahp.Value(`{}`), Path: "/index.html",
	})
}

// TestApply: messages are applied in order, each entirely or not at all, and Views get what
// was accepted alone (rules 5, 17 and 28).
func TestApply(t *testing.T) {
	bubble(t, func(b *bench) {
		v := b.hello("v")
		got := b.invoke("", "apply", `{"messages":[`+surfaceOne+`,{"version":"v0.9","updateComponents":{"surfaceId":"one","components":[{"id":"root","component":"Foo"}]}},`+button+`]}`)
		for _, want := range []string{`"applied":2`, `"index":1`, `"code":"VALIDATION_FAILED"`, `"path":"/updateComponents/components/0/component"`, "has no Foo; it has: ",
			`"surfaces":[{"surfaceId":"one","components":2,"sendDataModel":true}]`, `"pages":1`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
		posted := v.take()
		if len(posted) != 1 {
			t.Fatalf("posted %v", posted)
		}
		if p := parsePart(t, posted[0]); p.Metadata.Rev != 2 || len(p.Data) != 2 || strings.Contains(posted[0], "Foo") || !strings.Contains(posted[0], `"agentDisplayName":"Agent"`) {
			t.Errorf("posted %s", posted[0])
		}
		if st := b.State(b.channel); st.Status == nil || *st.Status != "1 message was refused" {
			t.Errorf("status %q", *st.Status)
		}
		b.apply("", data)
		if got := b.invoke("", "get_surfaces", `{}`); !strings.Contains(got, "12345678901234567890.10") || strings.Count(got, "updateComponents") != 1 {
			t.Errorf("get_surfaces: %s", got)
		}
		if got := b.invoke("", "apply", `{"messages":[]}`); !strings.HasPrefix(got, `{"applied":0,"errors":[]`) {
			t.Errorf("an empty list: %s", got)
		}
	})
}

// TestErrors: the codes and paths of what is wrong, over the door of agents.
func TestErrors(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		long := strings.Repeat("x", 61<<10)
		for _, c := range []struct{ messages, want string }{
			{`[{"version":"v0.9","updateComponents":{"surfaceId":"one","components":[{"id":"a","component":"Text"}]}}]`, `VALIDATION_FAILED /input/messages/0/updateComponents/components/0 component "a": lacks "text"`},
			{`[{"version":"v0.8","deleteSurface":{"surfaceId":"one"}}]`, `a2ui_version_unsupported /input/messages/0/version version "v0.8" is not supported; v0.9 and v0.9.1 are accepted`},
			{`[{"version":"v1.0","deleteSurface":{"surfaceId":"one"}}]`, `a2ui_version_unsupported`},
			{`[{"deleteSurface":{"surfaceId":"one"}}]`, `a2ui_version_unsupported /input/messages/0/version version is absent; v0.9 and v0.9.1 are accepted`},
			{`[{"beginRendering":{"surfaceId":"one"}}]`, `a2ui_version_unsupported /input/messages/0/version "beginRendering" is of v0.8`},
			{`[{"version":"v0.9","createSurface":{"surfaceId":"x","catalogId":"nope"}}]`, `a2ui_catalog_unsupported /input/messages/0/createSurface/catalogId the catalog "nope" is not supported`},
			{`[` + surfaceOne + `]`, `a2ui_surface_exists /input/messages/0/createSurface/surfaceId`},
			{`[{"version":"v0.9","updateDataModel":{"surfaceId":"none","value":1}}]`, `a2ui_surface_not_found /input/messages/0/updateDataModel/surfaceId`},
			{`[{"version":"v0.9","updateDataModel":{"surfaceId":"one","path":"/n/x","value":1}}]`, `a2ui_data_path /input/messages/0/updateDataModel/path the path "/n/x" leads through 12345678901234567890.10`},
			{`[{"version":"v0.9","updateDataModel":{"surfaceId":"one","path":"/t","value":"` + long + `"}}]`, `a2ui_too_large /input/messages/0 the message has`},
			{`[{"version":"v0.9","createSurface":{"surfaceId":"x","catalogId":"y"},"deleteSurface":{"surfaceId":"x"}}]`, `VALIDATION_FAILED /input/messages/0 a message has one update, this one has createSurface and deleteSurface`},
			{`{"type":"resource","resource":{"mimeType":"application/a2ui+json","text":"{"}}`, `VALIDATION_FAILED /input/messages/resource/text the text of the resource is not valid JSON`},
			{`{"type":"resource","resource":{"mimeType":"text/html","text":"{}"}}`, `VALIDATION_FAILED /input/messages/resource/mimeType the resource has the type "text/html"; want application/a2ui+json or application/json+a2ui`},
			{`"x"`, `canvas_input_invalid`},
		} {
			if got := b.invoke("", "apply", `{"messages":`+c.messages+`}`); !strings.HasPrefix(got, c.want) {
				t.Errorf("%.200s\n got %.300s\nwant %s", c.messages, got, c.want)
			}
		}
		if got := b.invoke("", "apply", `{}`); !strings.HasPrefix(got, "canvas_input_invalid") {
			t.Errorf("without messages: %s", got)
		}
		many := `[` + strings.TrimSuffix(strings.Repeat(`{"version":"v0.9","deleteSurface":{"surfaceId":"x"}},`, 257), ",") + `]`
		if got := b.invoke("", "apply", `{"messages":`+many+`}`); !strings.HasPrefix(got, "a2ui_too_large") {
			t.Errorf("257 messages: %.200s", got)
		}
	})
}

// TestEvents: what a person does is one event each, in order, with the models of the
// surfaces that sync (rules 17 to 21).
func TestEvents(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", `[`+surfaceTwo+`,`+form[1:])
		v := b.hello("v")
		failure := `{"version":"v0.9","error":{"code":"DATA_MODEL_TOO_LARGE","surfaceId":"two","message":"m"}}`
		v.act(`[`+action+`,`+failure+`]`, `{"one":{"n":2},"two":{"secret":1},"dead":{"secret":2}}`)
		v.say(`{"parts":[{"text":" okay, submit "}],"metadata":{"a2uiClientDataModel":{"version":"v0.9","surfaces":{"one":{"n":3},"two":{}}}}}`) // {} is what surface two has
		want := []string{
			`{"type":"a2ui.action","version":"v0.9","action":{"name":"go","surfaceId":"one","sourceComponentId":"root","timestamp":"2026-02-25T10:40:00Z","context":{}},"dataModel":{"one":{"n":2}}}`,
			`{"type":"a2ui.error","version":"v0.9","error":{"code":"DATA_MODEL_TOO_LARGE","surfaceId":"two","message":"m"}}`,
			`{"type":"a2ui.text","text":"okay, submit","dataModel":{"one":{"n":3}}}`,
		}
		if got := b.events(""); !slices.Equal(got, want) {
			t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if got := b.invoke("", "get_data_model", `{}`); got != `{"surfaces":{"one":{"n":3}},"live":false,"notSynced":["two"]}` {
			t.Errorf("the stored model: %s", got)
		}
		if st := b.State(b.channel); st.Status == nil || *st.Status != "Working…" {
			t.Errorf("status %q", *st.Status)
		}
	})
}

// TestRefused: what a View must not send is refused to it alone, and raises no event.
func TestRefused(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		v, other := b.hello("v"), b.hello("other")
		for _, c := range []struct{ data, want string }{
			{`[{"version":"v0.9","userAction":{}}]`, "v0.9 has `action`"},
			{`[{"version":"v0.8","action":{}}]`, `a2ui_version_unsupported`},
			{strings.Replace(action, `"name":"go"`, `"name":1`, 1), `/parts/0/data/0/action/name: want a string`},
			{strings.Replace(action, `"version":"v0.9"`, `"version":"v0.9","x":1`, 1), `want another number of members`},
			{strings.Replace(action, "2026-02-25T10:40:00Z", "today", 1), `want the format date-time`},
			{strings.Replace(action, `"surfaceId":"one"`, `"surfaceId":"foreign"`, 1), `a2ui_surface_not_found`},
			{strings.Replace(action, `"sourceComponentId":"root"`, `"sourceComponentId":"gone"`, 1), `has no component`},
			{`[{"version":"v0.9","error":{"code":"VALIDATION_FAILED","surfaceId":"one","message":"m"}}]`, `lacks \"path\"`},
			{`[{"version":"v0.9","error":{"code":"VALIDATION_FAILED","surfaceId":"one","message":"m","path":"/x","extra":1}}]`, `extra`},
		} {
			v.act(c.data, "")
			got := v.take()
			if len(got) != 1 || !strings.Contains(got[0], `"a2ui":"refused"`) || !strings.Contains(got[0], c.want) {
				t.Errorf("%s: %v, want %s", c.data, got, c.want)
			}
		}
		v.say(`{"parts":[{"kind":"data","metadata":{"mimeType":"text/plain"},"data":[]}]}`)
		v.say(`{"parts":[{"kind":"text","text":"` + strings.Repeat("é", 4001) + `"}]}`)
		v.say(`{"parts":[{"kind":"text","text":"  "}]}`)
		v.say(`{"nothing":true}`)
		if got := v.take(); len(got) != 3 {
			t.Errorf("%d refusals, want 3: %v", len(got), got)
		}
		if got := append(b.events(""), other.take()...); len(got) > 0 {
			t.Errorf("events or messages to others: %v", got)
		}
	})
}

// TestBadModels: models that break their schema, or have another version, are dropped; the
// action counts.
func TestBadModels(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		v := b.hello("v")
		for _, meta := range []string{`1`, `{"version":"v0.9.1","surfaces":{"one":{"n":9}}}`, `{"version":"v0.9","surfaces":{"one":9}}`, `{"version":"v0.9","surfaces":{"one":{"n":9}},"x":1}`,
			`{"version":"v0.9","surfaces":{"one":{"n":"` + strings.Repeat("x", 49<<10) + `"}}}`} {
			v.say(`{"parts":[{"kind":"data","metadata":{"mimeType":"application/a2ui+json"},"data":` + action + `}],"metadata":{"a2uiClientDataModel":` + meta + `}}`)
		}
		got := b.events("")
		if len(got) != 5 || strings.Contains(fmt.Sprint(got), "dataModel") || len(v.take()) != 0 {
			t.Errorf("events %.500v", got)
		}
		if got := b.invoke("", "get_data_model", `{}`); !strings.Contains(got, `{"n":12345678901234567890.10}`) {
			t.Errorf("the stored model: %s", got)
		}
	})
}

// TestOwners: the agents of a session see and change their own surfaces, and read their own
// events, with their own models.
func TestOwners(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("bank", form)
		b.apply("weather", strings.ReplaceAll(form, `"one"`, `"sky"`))
		for _, c := range []struct{ action, input, want string }{
			{"apply", `{"messages":` + data + `}`, "a2ui_surface_not_found"},
			{"apply", `{"messages":` + surfaceOne + `}`, "a2ui_surface_exists"},
			{"get_surfaces", `{"surfaceId":"one"}`, "a2ui_surface_not_found"},
			{"get_data_model", `{"surfaceId":"one"}`, "a2ui_surface_not_found"},
			{"get_data_model", `{}`, `{"surfaces":{"sky":{"n":12345678901234567890.10}},"live":false,"notSynced":[]}`},
		} {
			if got := b.invoke("weather", c.action, c.input); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s %s: %s", c.action, c.input, got)
			}
		}
		for _, who := range []string{"weather", "", "Agent"} {
			if got := b.invoke(who, "get_surfaces", `{}`) + b.invoke(who, "apply", `{"messages":[]}`); strings.Contains(got, `"one"`) {
				t.Errorf("%q sees the bank's surface: %s", who, got)
			}
		}
		v := b.hello("v")
		both := `{"one":{"pin":1},"sky":{"rain":2}}`
		v.act(action, both)
		v.act(strings.Replace(action, `"one"`, `"sky"`, 1), both)
		v.act(`{"version":"v0.9","error":{"code":"X","surfaceId":"one","message":"pin"}}`, both)
		v.say(`{"parts":[{"text":"go"}],"metadata":{"a2uiClientDataModel":{"version":"v0.9","surfaces":` + both + `}}}`)
		for who, want := range map[string]struct {
			count     int
			has, lack string
		}{"bank": {3, `"one":{"pin":1}`, "rain"}, "weather": {2, `"sky":{"rain":2}`, "pin"}, "": {0, "", "a2ui"}} {
			got := b.events(who)
			all := strings.Join(got, "\n")
			if len(got) != want.count || !strings.Contains(all, want.has) || strings.Contains(all, want.lack) {
				t.Errorf("%q reads\n%s", who, all)
			}
		}
	})
}

// TestPose: an agent's surface shows its owner's name (rule 12).
func TestPose(t *testing.T) {
	bubble(t, func(b *bench) {
		v := b.hello("v")
		b.apply("", strings.Replace(surfaceOne, `"sendDataModel":true`, `"theme":{"agentDisplayName":"Your bank","iconUrl":"https://bank.example/logo.png","primaryColor":"#00BFFF"}`, 1))
		b.apply("travel bot", surfaceTwo)
		all := strings.Join(v.take(), "\n")
		if strings.Contains(all, "bank") || !strings.Contains(all, `"theme":{"agentDisplayName":"Agent","primaryColor":"#00BFFF"}`) || !strings.Contains(all, `"agentDisplayName":"travel bot"`) {
			t.Errorf("posted %s", all)
		}
	})
}

// TestReplay: a View that says hello gets everything alone, with the current revision, at
// most once a second (rule 28, and the limits).
func TestReplay(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		other, v := b.hello("other"), b.join("v")
		v.say(`{"parts":[],"metadata":{"a2uiClientCapabilities":{"v0.9":{"supportedCatalogIds":["https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"]}}}}`)
		got := v.take()
		if len(got) != 2 {
			t.Fatalf("replay %v", got)
		}
		first, last := parsePart(t, got[0]), parsePart(t, got[1])
		if first.Metadata.Replay != "begin" || last.Metadata.Replay != "end" || first.Metadata.Rev != 2 || last.Metadata.Rev != 2 || len(first.Data) != 3 || len(last.Data) != 0 {
			t.Errorf("replay %v", got)
		}
		v.say(`{"parts":[]}`)
		v.say(`{"parts":[]}`)
		if got := v.take(); len(got) != 0 {
			t.Errorf("a second replay at once: %v", got)
		}
		b.apply("", data)
		v.take()
		<-time.After(time.Second)
		if got := v.take(); len(got) != 2 || parsePart(t, got[1]).Metadata.Rev != 3 {
			t.Errorf("after a second: %v", got)
		}
		<-time.After(5 * time.Second)
		if got := v.take(); len(got) != 0 {
			t.Errorf("later: %v", got)
		}
		if got := other.take(); len(got) != 1 {
			t.Errorf("another View got %v", got)
		}
		v.say(`{"x-ahp":"view/1","type":"hello"}`) // after a lost connection
		if got := v.take(); len(got) != 1 || parsePart(t, got[0]).Metadata.Rev != 3 || len(parsePart(t, got[0]).Data) != 0 {
			t.Errorf("the revision after a hello of view/1: %v", got)
		}
		if st := b.State(b.channel); st.Status == nil || *st.Status != "Waits for you" {
			t.Errorf("status %q", *st.Status)
		}
		v.say(`{"parts":[],"metadata":{"a2uiClientCapabilities":{"v0.9":{"supportedCatalogIds":["https://other.example"]}}}}`)
		if st := b.State(b.channel); st.Status == nil || *st.Status != "A page cannot draw this" {
			t.Errorf("status %q", *st.Status)
		}
	})
}

// TestAskPage: get_data_model asks a page, keeps what it says, and gives up after 3 s
// (rule 22).
func TestAskPage(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form[:len(form)-1]+`,`+surfaceTwo+`]`)
		v := b.hello("v")
		v.say(`{"x-ahp":"view/1","type":"hello"}`)
		v.take()
		answer := make(chan string, 1)
		ask := func() { answer <- b.invoke("", "get_data_model", `{}`) }
		go ask()
		var call struct {
			ID     string    `json:"id"`
			Action string    `json:"action"`
			Extra  ahp.Value `json:",embed"`
		}
		if err := ahp.Unmarshal(ahp.Value(v.take()[0]), &call); err != nil || call.Action != "a2ui.model" {
			t.Fatalf("asked %+v, %v", call, err)
		}
		v.say(`{"x-ahp":"view/1","type":"result","id":"` + call.ID + `","value":{"surfaces":{"one":{"typed":true},"two":{"no":1},"foreign":{"no":2}}}}`)
		want := `{"surfaces":{"one":{"typed":true}},"live":true,"notSynced":["two"]}`
		if got := <-answer; got != want {
			t.Errorf("answered %s, want %s", got, want)
		}
		if got := v.take(); len(got) != 1 || got[0] != `{"a2ui":"read"}` {
			t.Errorf("the page got %v", got)
		}
		begun := time.Now()
		go ask()
		if got := <-answer; got != strings.Replace(want, `"live":true`, `"live":false`, 1) {
			t.Errorf("a silent page: %s", got)
		}
		if took := time.Since(begun); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// TestRestore: a restart restores what was saved and applies no message twice; another input
// begins again (rules 26 and 27).
func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := channels.NewMemory()
		ids := 0
		newID := func() string { ids++; return fmt.Sprintf("host%d", ids) }
		input := ahp.Value(`{"title":"Booking","messages":` + form + `}`)
		b := newBench(t, engine.Options{Store: store, NewID: newID}, a2uicanvas.Options{})
		b.channel = b.Open("a2ui", "i", input).Channel
		b.apply("", `{"version":"v0.9","updateDataModel":{"surfaceId":"one","path":"/late","value":true}}`)
		v := b.hello("v")
		v.act(action, `{"one":{"entered":"x","late":true}}`)
		if in := b.State(b.channel).Input; string(in) != `{"title":"Booking"}` {
			t.Errorf("the state's input is %s", in)
		}
		if err := b.Canvases.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		again := newBench(t, engine.Options{Store: store, NewID: newID}, a2uicanvas.Options{})
		synctest.Wait()
		open, err := again.Canvases.ListOpen(canvastest.Session)
		if err != nil || len(open) != 1 || open[0].Title != "Booking" {
			t.Fatalf("open: %+v, %v", open, err)
		}
		again.channel = open[0].Channel
		check := func(what string) {
			t.Helper()
			if got := again.invoke("", "get_surfaces", `{}`); !strings.Contains(got, `"value":{"entered":"x","late":true}`) || !strings.Contains(got, "updateComponents") {
				t.Errorf("%s: %s", what, got)
			}
		}
		check("restored")
		again.Open("a2ui", "i", input)
		check("opened again with the same input")
		v = again.hello("v2")
		v.act(action, "")
		if got := again.events(""); len(got) != 1 {
			t.Errorf("an action after the restart: %v", got)
		}
		again.Open("a2ui", "i", ahp.Value(`{"messages":`+surfaceTwo+`}`))
		if got := again.invoke("", "get_surfaces", `{}`); strings.Contains(got, `"one"`) || !strings.Contains(got, `"two"`) {
			t.Errorf("opened with another input: %s", got)
		}
		posted := v.take()
		if len(posted) != 2 || parsePart(t, posted[0]).Metadata.Replay != "begin" {
			t.Errorf("the View got %v", posted)
		}
		if _, err := again.Canvases.Open(t.Context(), canvas.OpenArgs{Session: canvastest.Session, CanvasID: "a2ui", InstanceID: "i", Input: ahp.Value(`{"messages":[{"version":"v0.8"}]}`)}); err == nil {
			t.Error("an open of which nothing can be applied succeeded")
		}
		if got := again.invoke("", "get_surfaces", `{}`); !strings.Contains(got, `"two"`) {
			t.Errorf("after an open that failed: %s", got)
		}
	})
}

// TestTwoViews: what the last View sends counts, and a change reaches both (rules 20, 28).
func TestTwoViews(t *testing.T) {
	bubble(t, func(b *bench) {
		b.apply("", form)
		v, w := b.hello("v"), b.hello("w")
		v.act(action, `{"one":{"from":"v"}}`)
		w.act(action, `{"one":{"from":"w"}}`)
		if got := b.invoke("", "get_data_model", `{}`); !strings.Contains(got, `{"from":"w"}`) {
			t.Errorf("the model is %s", got)
		}
		b.apply("", data)
		if a, c := v.take(), w.take(); len(a) != 1 || !slices.Equal(a, c) {
			t.Errorf("the Views got %v and %v", a, c)
		}
		v.Leave()
		synctest.Wait()
		if got := b.invoke("", "apply", `{"messages":[]}`); !strings.Contains(got, `"pages":1`) {
			t.Errorf("after one left: %s", got)
		}
	})
}

// TestCatalogDoor: get_catalog answers briefly, with a schema on request.
func TestCatalogDoor(t *testing.T) {
	bubble(t, func(b *bench) {
		if got := b.invoke("", "get_catalog", `{}`); len(got) > 12<<10 || !strings.Contains(got, `"ChoicePicker"`) {
			t.Errorf("%d bytes: %.100s", len(got), got)
		}
		if got := b.invoke("", "get_catalog", `{"component":"Button"}`); !strings.Contains(got, `"#/$defs/Action"`) || len(got) > 60<<10 {
			t.Errorf("%d bytes: %.200s", len(got), got)
		}
		if got := b.invoke("", "get_catalog", `{"component":"Foo"}`); !strings.HasPrefix(got, "canvas_input_invalid /input/component") {
			t.Errorf("got %s", got)
		}
	})
}
