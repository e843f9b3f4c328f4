package a2ui

import (
	"bytes"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// FuzzMessages: what comes out is valid, and unwrapping it again gives the same.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{`[]`, `{"messages":[{"version":"v0.9"}]}`, `{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":[1]}`,
		`{"resource":{"mimeType":"application/a2ui+json","text":"[{}]"}}`, `{"a2ui_operations":{"a":1}}`, "\xff", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := Messages(raw)
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("%T", err)
			}
			return
		}
		for _, m := range list {
			if !m.IsValid() {
				t.Fatalf("%q is not valid", m)
			}
		}
	})
}

// FuzzReadClient: what is read fits its schema, and no model is anything but an object.
func FuzzReadClient(f *testing.F) {
	f.Add([]byte(`{"parts":[]}`))
	f.Add([]byte(`{"parts":[{"kind":"data","metadata":{"mimeType":"application/json+a2ui"},"data":[{"version":"v0.9","action":{"name":"n","surfaceId":"s","sourceComponentId":"c","timestamp":"2026-02-25T10:40:00Z","context":{}}}]}],"metadata":{"a2uiClientDataModel":{"version":"v0.9","surfaces":{"s":{}}}}}`))
	f.Add([]byte(`{"parts":[{"text":"x"}],"metadata":{"a2uiClientCapabilities":{"v0.9":{"supportedCatalogIds":["a"]}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := ReadClient(raw)
		if err != nil {
			return
		}
		for _, m := range c.Messages {
			if again, err := ReadMessage(m.Raw); err != nil || again.SurfaceID != m.SurfaceID || (m.Action == nil) == (m.Error == nil) {
				t.Fatalf("%s: %v", m.Raw, err)
			}
		}
		s := NewSurfaces(Limits{})
		s.Apply("o", []ahp.Value{creates("s")})
		s.list[0].sync = true
		s.Sync(c.Models, c.ModelVersion)
		if m := s.Model("s"); m.Kind() != '{' {
			t.Fatalf("the model is %s", m)
		}
	})
}

// FuzzApply: applying a list to two copies gives equal bytes, what is posted draws the same
// surfaces, and so does a replay; nothing exceeds its limit.
func FuzzApply(f *testing.F) {
	for _, name := range names(f, "examples/*.json")[:6] {
		f.Add([]byte(ahp.MustMarshal(load[example](f, name).Messages)))
	}
	f.Add([]byte(`[{"version":"v0.9","updateDataModel":{"surfaceId":"s","path":"/a/0/~1","value":{"":[1.0,null]}}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := Messages(raw)
		if err != nil {
			return
		}
		list = append([]ahp.Value{creates("s")}, list...)
		a, posted := NewSurfaces(Limits{}), NewSurfaces(Limits{})
		b := a.Clone()
		ra, rb := a.Apply("o", list), b.Apply("o", list)
		if !bytes.Equal(a.Save(), b.Save()) || !bytes.Equal(ahp.MustMarshal(ra), ahp.MustMarshal(rb)) {
			t.Fatal("two copies differ")
		}
		if ra.Applied != len(ra.Out) || ra.Applied+len(ra.Errors) != len(list) && len(list) <= 256 {
			t.Fatalf("%d of %d applied, %d errors", ra.Applied, len(list), len(ra.Errors))
		}
		if len(list) <= 256 {
			if r := posted.Apply("o", ra.Out); len(r.Errors) > 0 || !bytes.Equal(posted.Save(), a.Save()) {
				t.Fatalf("what is posted draws something else: %v", r.Errors)
			}
		}
		if a.Bytes() > 240<<10 {
			t.Fatalf("%d bytes", a.Bytes())
		}
		checkReplay(t, a)
	})
}
