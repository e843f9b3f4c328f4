package a2ui

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// op is an operation on a data model: a path with a value, or without one.
type op []json.RawMessage

func (o op) run(t *testing.T, model any) (any, error) {
	t.Helper()
	var path string
	if err := json.Unmarshal(o[0], &path); err != nil {
		t.Fatal(err)
	}
	if len(o) == 1 {
		return change(model, path, nil, true)
	}
	value, err := decode(ahp.Value(o[1]))
	if err != nil {
		t.Fatal(err)
	}
	return change(model, path, value, false)
}

// at returns what is at a path, and whether there is something.
func at(tree any, path string) (any, bool) {
	for _, s := range segments(path) {
		switch v := tree.(type) {
		case map[string]any:
			e, ok := v[s]
			if !ok {
				return nil, false
			}
			tree = e
		case []any:
			n, err := indexOf(path, s)
			if err != nil || n >= len(v) {
				return nil, false
			}
			tree = v[n]
		default:
			return nil, false
		}
	}
	return tree, true
}

func tree(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	v, err := decode(ahp.Value(raw))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDataModelVectors: upstream's unit tests of the data model.
func TestDataModelVectors(t *testing.T) {
	t.Parallel()
	file := load[struct {
		Initial json.RawMessage
		Cases   []struct {
			Set    []op
			Remove []string
			Get    string
			Want   json.RawMessage
			Absent bool
			Error  string
		}
	}](t, "vectors/data_model.json")
	for n, c := range file.Cases {
		model, failed := tree(t, file.Initial), ""
		for _, path := range c.Remove {
			c.Set = append(c.Set, op{json.RawMessage(ahp.MustMarshal(path))})
		}
		for _, o := range c.Set {
			next, err := o.run(t, model)
			if err != nil {
				failed = err.Error()
				if next == nil {
					t.Errorf("case %d: a failure lost the model", n)
				}
			}
			model = next
		}
		if (failed != "") != (c.Error != "") {
			t.Errorf("case %d: error %q, want %q", n, failed, c.Error)
		}
		if c.Error != "" {
			continue
		}
		got, ok := at(model, c.Get)
		if ok == c.Absent || !c.Absent && !ahp.Equal(encode(got), ahp.Value(c.Want)) {
			t.Errorf("case %d: at %s is %s (%v), want %s", n, c.Get, encode(got), ok, c.Want)
		}
	}
}

// recording is what the official renderer core did.
type recording struct {
	Cases []struct {
		Name           string
		ServerToClient []ahp.Value
		UserEdits      [][]json.RawMessage
		ClientToServer []ahp.Value
		Model          ahp.Value `json:"a2uiClientDataModel"`
	}
	ErrorBehaviours []struct {
		Name     string
		Messages []ahp.Value
		Error    *struct{ Class, Code, Message string }
	}
	DataModel []struct {
		Initial json.RawMessage
		Set     []op
		Error   *string
		Final   json.RawMessage
	}
}

// TestRecordings: the store has the data models and error classes of the official core, and
// reads what it sends.
func TestRecordings(t *testing.T) {
	t.Parallel()
	r := load[recording](t, "recordings/web_core_0.11.0_v0_9.json")
	for n, c := range r.DataModel {
		model, failed := tree(t, c.Initial), false
		for _, o := range c.Set {
			next, err := o.run(t, model)
			model, failed = next, failed || err != nil
		}
		if failed != (c.Error != nil) || !ahp.Equal(encode(model), ahp.Value(c.Final)) {
			t.Errorf("operation %d: failed %v, %s; want %s", n, failed, encode(model), c.Final)
		}
	}
	codes := map[string]string{"duplicate createSurface": CodeSurfaceExists, "unknown catalog": CodeCatalogUnsupported, "updateComponents before create": CodeSurfaceNotFound}
	for _, c := range r.ErrorBehaviours {
		got := NewSurfaces(Limits{}).Apply("a", c.Messages).Errors
		if (len(got) > 0) != (c.Error != nil) {
			t.Errorf("%s: %v, want %+v", c.Name, got, c.Error)
			continue
		}
		want := CodeValidationFailed
		if codes[c.Name] != "" {
			want = codes[c.Name]
		}
		if c.Error != nil && got[0].Code != want {
			t.Errorf("%s: %s, want %s", c.Name, got[0].Code, want)
		}
	}
	for _, c := range r.Cases {
		s := NewSurfaces(Limits{})
		if got := s.Apply("a", c.ServerToClient); len(got.Errors) > 0 {
			t.Errorf("%s: %v", c.Name, got.Errors)
		}
		envelope := ahp.MustMarshal(map[string]any{
			"parts":    []any{map[string]any{"kind": "data", "metadata": map[string]any{"mimeType": MIMEv09}, "data": c.ClientToServer}},
			"metadata": map[string]any{MetaDataModel: c.Model},
		})
		client, err := ReadClient(envelope)
		if err != nil || len(client.Messages) != len(c.ClientToServer) {
			t.Errorf("%s: %v, %d messages", c.Name, err, len(client.Messages))
			continue
		}
		for _, m := range client.Messages {
			if f, ok := s.Surface(m.SurfaceID); !ok || m.Action != nil && !s.Has(f.ID, m.Component) {
				t.Errorf("%s: %s is not of a surface", c.Name, m.Raw)
			}
		}
		recordedModel(t, c.Name, s, client, c.Model, c.UserEdits)
	}
}

// recordedModel compares the data model after a person's edits.
func recordedModel(t *testing.T, name string, s *Surfaces, client Client, want ahp.Value, edits [][]json.RawMessage) {
	t.Helper()
	if len(want) == 0 || want.Kind() == 'n' {
		if got := s.DataModel("a", V09); got != nil {
			t.Errorf("%s: the model %s", name, got)
		}
		return
	}
	info := s.List()[0]
	for _, e := range edits {
		m := ahp.MustMarshal(map[string]any{"version": V09, "updateDataModel": map[string]any{"surfaceId": info.ID, "path": ahp.Value(e[0]), "value": ahp.Value(e[1])}})
		if r := s.Apply("a", []ahp.Value{m}); len(r.Errors) > 0 {
			t.Errorf("%s: %v", name, r.Errors)
		}
	}
	if got := s.DataModel("a", V09); !ahp.Equal(got, want) {
		t.Errorf("%s: the model is\n%s, want\n%s", name, got, want)
	}
	if dropped, changed := s.Sync(client.Models, client.ModelVersion); dropped != 0 || changed {
		t.Errorf("%s: dropped %d, changed %v", name, dropped, changed)
	}
}

// TestSubagentMap: upstream's assertions on ownership and stripping.
func TestSubagentMap(t *testing.T) {
	t.Parallel()
	file := load[struct {
		ServerEvent []struct {
			Author, Error string
			Data          json.RawMessage
			State, After  map[string]string
			NotPart       bool `json:"notA2uiPart"`
		}
		ClientEvent []struct {
			Data    json.RawMessage
			State   map[string]string
			Owner   *string
			NotPart bool `json:"notA2uiPart"`
		}
		Strip []struct {
			Model, After json.RawMessage
			Agent        *string
			State        map[string]string
			ThenFor      map[string]json.RawMessage
		}
	}](t, "vectors/subagent_map.json")
	for n, c := range file.Strip {
		agent := ""
		if c.Agent != nil {
			agent = *c.Agent
		}
		got := Owners(c.State).Strip(ahp.Value(c.Model), agent)
		if !ahp.Equal(got, ahp.Value(c.After)) {
			t.Errorf("strip %d: %s, want %s", n, got, c.After)
		}
		for other, want := range c.ThenFor {
			if then := Owners(c.State).Strip(got, other); !ahp.Equal(then, ahp.Value(want)) {
				t.Errorf("strip %d for %s: %s, want %s", n, other, then, want)
			}
		}
	}
	for n, c := range file.ClientEvent {
		if c.NotPart {
			continue // ReadClient refuses it: TestReadClientRefuses
		}
		message := object(tree(t, c.Data))
		if got := Owners(c.State)[surfaceOf(message)]; c.Owner == nil || got != *c.Owner {
			t.Errorf("client event %d: %q", n, got)
		}
	}
	for n, c := range file.ServerEvent {
		s := NewSurfaces(Limits{})
		for id, owner := range c.State {
			s.Apply(owner, []ahp.Value{creates(id)})
		}
		raw := string(c.Data)
		old := strings.Contains(raw, "beginRendering")
		raw = strings.Replace(raw, `"surface1"`, `"surface1", "catalogId": "`+BasicCatalogID+`"`, 1)
		raw = strings.Replace(raw, `{`, `{"version":"v0.9",`, 1)
		r := s.Apply(c.Author, []ahp.Value{ahp.Value(strings.Replace(raw, "beginRendering", "createSurface", 1))})
		if strings.Contains(raw, "createSurface") || old && !c.NotPart {
			if want := c.Error != ""; (len(r.Errors) > 0) != want {
				t.Errorf("server event %d: %v, want %q", n, r.Errors, c.Error)
			}
		}
		if c.After != nil && !c.NotPart && !strings.Contains(raw, "deleteSurface") {
			if got := s.Owners(); len(got) != len(c.After) || len(got) > 0 && got["surface1"] != c.After["surface1"] {
				t.Errorf("server event %d: owners %v, want %v", n, got, c.After)
			}
		}
		if old { // as it came, in v0.8
			if r := NewSurfaces(Limits{}).Apply(c.Author, []ahp.Value{ahp.Value(c.Data)}); len(r.Errors) != 1 || r.Errors[0].Code != CodeVersionUnsupported {
				t.Errorf("server event %d of v0.8: %+v", n, r)
			}
		}
	}
}

// creates returns a createSurface.
func creates(id string) ahp.Value {
	return ahp.MustMarshal(body{Version: V09, CreateSurface: &creation{SurfaceID: id, CatalogID: BasicCatalogID, Theme: ahp.Value("{}")}})
}

// TestClientVectors: upstream's assertions on client messages beside the cases.
func TestClientVectors(t *testing.T) {
	t.Parallel()
	file := load[struct {
		Cases, ClientDataModel []struct {
			Valid bool
			Data  json.RawMessage
		}
	}](t, "vectors/client_to_server_extra.json")
	for n, c := range file.Cases {
		if got := clientVerdict(ahp.Value(c.Data)); (got == "") != c.Valid {
			t.Errorf("case %d: %q", n, got)
		}
	}
	for n, c := range file.ClientDataModel {
		if models, _, ok := ReadModels(ahp.Value(c.Data)); ok != c.Valid || len(models) != 2 {
			t.Errorf("model %d: %v", n, ok)
		}
	}
}

// TestSeedSamples: the 14 samples of A2UI's page on actions, each for what it is.
func TestSeedSamples(t *testing.T) {
	t.Parallel()
	all := load[struct{ Samples []ahp.Value }](t, "vectors/seed_samples.json").Samples
	if len(all) != 14 {
		t.Fatalf("%d samples", len(all))
	}
	for _, n := range []int{0, 1, 2, 11} { // components
		if f := Basic().validateComponent(tree(t, json.RawMessage(all[n]))); f != nil {
			t.Errorf("sample %d: %v %s", n, f.at, f.words)
		}
	}
	for _, n := range []int{4, 5} { // an action, an error
		if got := clientVerdict(all[n]); got != "" {
			t.Errorf("sample %d: %s", n, got)
		}
	}
	s := NewSurfaces(Limits{})
	r := s.Apply("a", all[6:7]) // createSurface, by another spelling of the catalog's id
	if r.Applied != 1 || len(r.Warnings) != 1 || !strings.Contains(string(r.Out[0]), BasicCatalogID) {
		t.Errorf("sample 6: %+v", r)
	}
	if r := NewSurfaces(Limits{}).Apply("a", all[12:13]); len(r.Errors) != 1 || r.Errors[0].Code != CodeCatalogUnsupported {
		t.Errorf("sample 12, with a catalog \"...\": %+v", r)
	}
	for _, n := range []int{7, 13} { // texts with a data model
		c, err := ReadClient(all[n])
		if err != nil || c.Text == "" || len(c.Models["booking-surface"]) == 0 || c.BadModel {
			t.Errorf("sample %d: %+v, %v", n, c, err)
		}
		if dropped, changed := s.Sync(c.Models, c.ModelVersion); dropped != 0 || !changed || !ahp.Equal(s.Model("booking-surface"), c.Models["booking-surface"]) {
			t.Errorf("sample %d: dropped %d, %s", n, dropped, s.Model("booking-surface"))
		}
	}
	// capabilities
	c, err := ReadClient(ahp.MustMarshal(map[string]any{"parts": []any{}, "metadata": map[string]any{MetaCapabilities: all[8]}}))
	if err != nil || !c.Hello || len(c.Catalogs) != 2 {
		t.Errorf("sample 8: %+v, %v", c, err)
	}
}

// TestProcessorVectors: upstream's assertions on its message processor. Their catalog has
// loose components.
func TestProcessorVectors(t *testing.T) {
	t.Parallel()
	loose := `{"type":"object","properties":{"id":{"type":"string"}},"required":["id","component"]}`
	catalog, err := Compile(CatalogFiles{Catalog: []byte(`{"catalogId":"test-catalog","components":{"Button":` + loose + `,"Label":` + loose + `}}`)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/vectors/message_processor.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name            string                          `json:"name"`
			Messages        []ahp.Value                     `json:"messages,omitzero"`
			Wrapper         ahp.Value                       `json:"wrapper,omitzero"`
			Error           string                          `json:"error,omitzero"`
			Surfaces        map[string]ahp.Value            `json:"surfaces,omitzero"`
			Data            map[string]ahp.Value            `json:"data,omitzero"`
			Components      map[string]map[string]ahp.Value `json:"components,omitzero"`
			ClientDataModel ahp.Value                       `json:"clientDataModel,omitzero"`
		} `json:"cases"`
		Extra ahp.Value `json:",embed"`
	}
	if err := ahp.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		if c.Wrapper != nil {
			if c.Messages, err = Messages(c.Wrapper); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
		s := NewSurfaces(Limits{}, catalog)
		r := s.Apply("a", c.Messages)
		if (len(r.Errors) > 0) != (c.Error != "") {
			t.Errorf("%s: %v, want %q", c.Name, r.Errors, c.Error)
		}
		if c.Surfaces != nil && len(s.List()) != len(c.Surfaces) {
			t.Errorf("%s: surfaces %v", c.Name, s.List())
		}
		for id, want := range c.Surfaces {
			f, ok := s.Surface(id)
			if !ok || f.SendDataModel != strings.Contains(string(want), "true") {
				t.Errorf("%s: surface %s: %+v", c.Name, id, f)
			}
		}
		for id, want := range c.Data {
			if got := s.Model(id); !ahp.Equal(got, want) {
				t.Errorf("%s: data %s, want %s", c.Name, got, want)
			}
		}
		for id, all := range c.Components {
			for component, want := range all {
				got := object(tree(t, json.RawMessage(s.find(id).components[component].raw)))
				delete(got, "id")
				if !ahp.Equal(encode(got), want) {
					t.Errorf("%s: component %s, want %s", c.Name, encode(got), want)
				}
			}
		}
		if c.ClientDataModel != nil {
			got := s.DataModel("a", V09)
			if c.ClientDataModel.Kind() == 'n' != (got == nil) || got != nil && !ahp.Equal(got, c.ClientDataModel) {
				t.Errorf("%s: model %s, want %s", c.Name, got, c.ClientDataModel)
			}
		}
	}
}
