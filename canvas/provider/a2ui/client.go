package a2ui

import (
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Client is one envelope of a renderer: what a person did, and the state of the page.
type Client struct {
	// Messages are actions and errors, in order.
	Messages []ClientMessage
	// Text is what the person typed; "" if nothing.
	Text string
	// Hello says that the envelope has no parts: the renderer asks for a replay.
	Hello bool
	// Catalogs are the ids that the renderer says it can draw; nil if it does not say.
	Catalogs []string
	// Models are the data models of surfaces, by id, with the version that they have.
	// They are not checked against any surface: Surfaces.Sync does that.
	Models map[string]ahp.Value
	// ModelVersion is the version of Models.
	ModelVersion string
	// BadModel says that there was an a2uiClientDataModel that breaks its schema. It is
	// dropped.
	BadModel bool
}

// ClientMessage is an action or an error.
type ClientMessage struct {
	Raw       ahp.Value // the whole message
	Version   string    // of the message
	SurfaceID string    // where it happened
	Component string    // of an action: its source
	Action    ahp.Value // the member action; nil for an error
	Error     ahp.Value // the member error; nil for an action
}

// maxText limits a text, in code points.
const maxText = 4000

// envelope is what a renderer sends: a message of A2A, as far as it matters here.
type envelope struct {
	Parts    []ahp.Value `json:"parts"`
	Metadata ahp.Value   `json:"metadata,omitzero"`
	Extra    ahp.Value   `json:",embed"`
}

type metadata struct {
	Capabilities ahp.Value `json:"a2uiClientCapabilities,omitzero"`
	Model        ahp.Value `json:"a2uiClientDataModel,omitzero"`
	Extra        ahp.Value `json:",embed"`
}

// ReadClient reads an envelope of a renderer: {"parts":[…],"metadata":{…}}. Actions and
// errors that break A2UI's schema, and parts that are neither text nor A2UI, refuse the
// envelope; the error is an [*Error].
func ReadClient(v ahp.Value) (c Client, err error) {
	var e envelope
	if err := ahp.Unmarshal(v, &e); err != nil {
		return c, failed("", err.Error())
	}
	if !v.IsValid() {
		return c, failed("", "want valid JSON without duplicate members")
	}
	c.Hello = len(e.Parts) == 0
	for n, p := range e.Parts {
		if err := c.readPart(p, pointer("parts", itoa(n))); err != nil {
			return Client{}, err
		}
	}
	if n := len([]rune(c.Text)); n > maxText {
		return Client{}, &Error{Code: CodeTooLarge, Path: "/parts", Message: "the text has " + itoa(n) + " characters, at most " + itoa(maxText) + " are allowed"}
	}
	var m metadata
	if e.Metadata.Kind() == '{' && ahp.Unmarshal(e.Metadata, &m) == nil {
		c.readCapabilities(m.Capabilities)
		c.readModels(m.Model)
	}
	return c, nil
}

// readPart reads a part: text, or data with an A2UI type.
func (c *Client) readPart(p ahp.Value, path string) error {
	var w struct {
		Kind      ahp.Value `json:"kind,omitzero"`
		Text      ahp.Value `json:"text,omitzero"`
		Data      ahp.Value `json:"data,omitzero"`
		Metadata  ahp.Value `json:"metadata,omitzero"`
		MIMEType  ahp.Value `json:"mimeType,omitzero"`
		MediaType ahp.Value `json:"mediaType,omitzero"`
		Extra     ahp.Value `json:",embed"`
	}
	if p.Kind() != '{' || ahp.Unmarshal(p, &w) != nil {
		return failed(path, "want a part: text or data")
	}
	switch kind := text(w.Kind); {
	case w.Text.Kind() == '"' && (kind == "text" || kind == ""):
		if said := strings.TrimSpace(text(w.Text)); said != "" {
			c.Text = strings.TrimSpace(c.Text + "\n" + said)
		}
		return nil
	case w.Data == nil || kind != "data" && kind != "":
		return failed(path, "want a part of kind text or data")
	}
	if mime := PartMIMEType(w.Metadata, w.MIMEType, w.MediaType); !IsMIMEType(mime) {
		return failed(path, "a data part of type "+quote(mime)+"; want "+MIMEv091+" or "+MIMEv09)
	}
	list := []ahp.Value{w.Data}
	if w.Data.Kind() == '[' {
		list = nil
		if err := ahp.Unmarshal(w.Data, &list); err != nil {
			return failed(path+"/data", err.Error())
		}
	}
	for n, raw := range list {
		m, err := ReadMessage(raw)
		if err != nil {
			e := *err
			e.Path = path + pointer("data", itoa(n)) + e.Path
			return &e
		}
		c.Messages = append(c.Messages, m)
	}
	return nil
}

var clientSchemas = sync.OnceValue(func() (s struct{ message, model *jsonschema.Schema }) {
	compile := func(name string) *jsonschema.Schema {
		doc, err := document(nil, "schemas/"+name)
		if err != nil {
			panic(err)
		}
		compiler := newCompiler()
		doc["$id"] = schemaBase + name
		if err := compiler.AddResource(schemaBase+name, doc); err != nil {
			panic(err)
		}
		return compiler.MustCompile(schemaBase + name)
	}
	s.message, s.model = compile("client_to_server.json"), compile("client_data_model.json")
	return s
})

// ReadMessage reads one client-to-server message: an action or an error.
func ReadMessage(raw ahp.Value) (m ClientMessage, bad *Error) {
	if raw.Kind() != '{' || !raw.IsValid() {
		return m, failed("", "want an object with version and action or error")
	}
	tree, err := decode(raw)
	if err != nil {
		return m, failed("", "want valid JSON")
	}
	all := object(tree)
	if words := badVersion(all, nil); words != "" {
		return m, &Error{Code: CodeVersionUnsupported, Path: "/version", Message: words}
	}
	m.Version = str(all, "version")
	if _, ok := all["userAction"]; ok {
		return m, failed("/userAction", m.Version+" has `action`; userAction is of v0.8")
	}
	all["version"] = V09
	if f := findingOf(clientSchemas().message.Validate(tree)); f != nil {
		return m, failed(pointer(f.at...), f.words)
	}
	var body struct {
		Version string    `json:"version"`
		Action  ahp.Value `json:"action,omitzero"`
		Error   ahp.Value `json:"error,omitzero"`
	}
	if err := ahp.Unmarshal(raw, &body); err != nil {
		return m, failed("", err.Error())
	}
	m.Raw, m.Action, m.Error = raw.Clone(), body.Action.Clone(), body.Error.Clone()
	m.SurfaceID, m.Component = surfaceOf(all), str(object(all, "action"), "sourceComponentId")
	return m, nil
}

func (c *Client) readCapabilities(v ahp.Value) {
	var all map[string]ahp.Value
	if v.Kind() != '{' || ahp.Unmarshal(v, &all) != nil {
		return
	}
	for _, version := range Versions() {
		var s struct {
			IDs   []string  `json:"supportedCatalogIds"`
			Extra ahp.Value `json:",embed"`
		}
		if all[version].Kind() == '{' && ahp.Unmarshal(all[version], &s) == nil {
			c.Catalogs = append(c.Catalogs, s.IDs...)
		}
	}
	if c.Catalogs == nil {
		c.Catalogs = []string{}
	}
}

func (c *Client) readModels(v ahp.Value) {
	if v == nil {
		return
	}
	models, version, ok := ReadModels(v)
	c.Models, c.ModelVersion, c.BadModel = models, version, !ok
}

// ReadModels reads an a2uiClientDataModel, and reports whether it fits its schema.
func ReadModels(v ahp.Value) (models map[string]ahp.Value, version string, ok bool) {
	if v.Kind() != '{' || !v.IsValid() {
		return nil, "", false
	}
	tree, err := decode(v)
	if err != nil {
		return nil, "", false
	}
	all := object(tree)
	version = str(all, "version")
	if !Supported(version) {
		return nil, "", false
	}
	all["version"] = V09
	if clientSchemas().model.Validate(tree) != nil {
		return nil, "", false
	}
	models = map[string]ahp.Value{}
	for id, m := range object(all, "surfaces") {
		models[id] = encode(m)
	}
	return models, version, true
}

// Sync takes the models of an envelope over: those of surfaces that exist, sync and have
// the version. It returns how many models were dropped, and whether anything changed.
func (s *Surfaces) Sync(models map[string]ahp.Value, version string) (dropped int, changed bool) {
	for id, model := range models {
		f := s.find(id)
		if f == nil || !f.sync || f.version != version {
			dropped++
			continue
		}
		tree, err := decode(model)
		before := f.model
		if err != nil || longest(tree) > s.limits.StringBytes || s.setModel(f, tree) != nil {
			f.model = before
			dropped++
			continue
		}
		changed = changed || string(before) != string(f.model)
	}
	return dropped, changed
}

// DataModel returns the a2uiClientDataModel of an owner's surfaces that sync and have a
// version, nil if there are none.
func (s *Surfaces) DataModel(owner, version string) ahp.Value {
	models := map[string]ahp.Value{}
	for _, f := range s.list {
		if f.owner == owner && f.sync && f.version == version {
			models[f.id] = s.Model(f.id)
		}
	}
	if len(models) == 0 {
		return nil
	}
	return ahp.MustMarshal(struct {
		Version  string               `json:"version"`
		Surfaces map[string]ahp.Value `json:"surfaces"`
	}{version, models})
}
