package actionsbridge_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// FuzzItem: any bytes are an item that encodes again to an item, or an invalid_input.
func FuzzItem(f *testing.F) {
	for _, s := range []string{`{"type":"runtime_ready","runtime_id":"r","url":"https://a.example/","manifest":{}}`, `{"type":"dom_event"}`, `{"type":"action_error","error":{"code":"x"}}`, `[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		item, err := ab.DecodeItem(raw)
		if err != nil {
			if err.Code != ab.CodeInvalidInput {
				t.Errorf("%v", err)
			}
			return
		}
		if _, failed := ab.Outcome(item); failed != nil && len(failed.Details()) > 4096 {
			t.Errorf("details of %d bytes", len(failed.Details()))
		}
		if again, err := ab.DecodeItem(item.Encode()); err != nil || again.Type != item.Type || again.CallID != item.CallID {
			t.Errorf("%s became %+v, %v", raw, again, err)
		}
		b := ab.New(ab.Options{})
		defer b.Close()
		b.Attach(newWire(), trusted).Receive(raw)
	})
}

// FuzzManifest: a manifest is read or has issues; nothing is callable with issues.
func FuzzManifest(f *testing.F) {
	for _, name := range []string{"simple-form.actions.json", "good-map.actions.json"} {
		f.Add(read(f, "upstream", name))
	}
	f.Add([]byte(`{"tools":[{"name":"a","input_schema":{"$ref":"#"}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_ = ab.CheckManifest(raw)
		m, issues := ab.ReadManifest(ahp.Value(raw))
		if len(issues) > 0 && len(m.Actions)+len(m.Signals) > 0 {
			t.Errorf("actions in spite of %v", issues)
		}
		for _, a := range m.Actions {
			if err := m.CheckCall(a.Name, ahp.Value(`{}`)); err != nil && len(err.Details()) > 4096 {
				t.Errorf("%v", err)
			}
		}
	})
}

// FuzzSelector: no selector finds a runtime that waits.
func FuzzSelector(f *testing.F) {
	b := ab.New(ab.Options{})
	f.Cleanup(b.Close)
	attach(b, trusted, "r1", "https://a.example/", `"title":"T"`)
	attach(b, shop, "w", "https://shop.example/")
	f.Add("r1", "a.example", "T", "")
	f.Add("w", "", "", "shop")
	f.Fuzz(func(t *testing.T, id, url, title, key string) {
		r, err := b.Select(ab.Selector{RuntimeID: id, URLContains: url, TitleContains: title, Target: &ab.Target{RuntimeKey: key}})
		if err == nil && r.ID != "r1" {
			t.Errorf("selected %s", r.ID)
		}
	})
}
