package canvas

import "time"

// Limits bounds what providers, agents and Views may ask for (canvas.md section
// 8). Sizes are bytes of JSON unless a field says otherwise. A zero field has
// the default that its comment names.
type Limits struct {
	Canvases    int // a provider may declare; 64
	Actions     int // a canvas may declare; 64
	SchemaBytes int // of a declared schema; 64 KiB
	SchemaDepth int // of a declared schema, counted in JSON levels; 8

	SessionInstances int // open in one session; 256
	Instances        int // open in the host; 4,096
	Waiting          int // flows that wait for their turn at one instance; 64

	Depth  int // of inputs, values and payloads, in JSON levels; 64
	Values int // likewise, how many; 16,384

	InputBytes   int // of open and invoke; 256 KiB
	AnswerBytes  int // of an action's value; 64 KiB
	TextLength   int // code points of a title or status; 512
	MessageBytes int // of a canvas/message payload; 64 KiB
	MailboxBytes int // of messages that a provider has not taken yet, per instance; 1 MiB
	SaveBytes    int // of Handle.Save; 256 KiB
	RecordBytes  int // of one record of a provider; 1 MiB
	RecordsBytes int // of all records of an extension, with 256 bytes each for overhead; 64 MiB
	TitleRate    int // titles a second that reach the catalogue, per instance; 20

	ContentBytes int // of one content read, before encoding; 16 MiB
	CacheBytes   int // of encoded content that is kept; 64 MiB

	Events     int // kept for the agent, per session; 1,024
	EventBytes int // likewise, in bytes; 1 MiB
}

// WithDefaults returns the limits with the default in each field that is zero.
func (l Limits) WithDefaults() Limits {
	def := Limits{
		Canvases: 64, Actions: 64, SchemaBytes: 64 << 10, SchemaDepth: 8,
		SessionInstances: 256, Instances: 4096, Waiting: 64, Depth: 64, Values: 16384,
		InputBytes: 256 << 10, AnswerBytes: 64 << 10, TextLength: 512, MessageBytes: 64 << 10,
		MailboxBytes: 1 << 20, SaveBytes: 256 << 10, RecordBytes: 1 << 20, RecordsBytes: 64 << 20, TitleRate: 20,
		ContentBytes: 16 << 20, CacheBytes: 64 << 20,
		Events: 1024, EventBytes: 1 << 20,
	}
	for _, f := range []struct{ v, def *int }{
		{&l.Canvases, &def.Canvases}, {&l.Actions, &def.Actions}, {&l.SchemaBytes, &def.SchemaBytes}, {&l.SchemaDepth, &def.SchemaDepth},
		{&l.SessionInstances, &def.SessionInstances}, {&l.Instances, &def.Instances}, {&l.Waiting, &def.Waiting},
		{&l.Depth, &def.Depth}, {&l.Values, &def.Values},
		{&l.InputBytes, &def.InputBytes}, {&l.AnswerBytes, &def.AnswerBytes}, {&l.TextLength, &def.TextLength}, {&l.MessageBytes, &def.MessageBytes},
		{&l.MailboxBytes, &def.MailboxBytes}, {&l.SaveBytes, &def.SaveBytes}, {&l.RecordBytes, &def.RecordBytes}, {&l.RecordsBytes, &def.RecordsBytes}, {&l.TitleRate, &def.TitleRate},
		{&l.ContentBytes, &def.ContentBytes}, {&l.CacheBytes, &def.CacheBytes},
		{&l.Events, &def.Events}, {&l.EventBytes, &def.EventBytes},
	} {
		if *f.v == 0 {
			*f.v = *f.def
		}
	}
	return l
}

// Timeouts bounds how long a provider may take (canvas.md section 3). A zero
// field has the default that its comment names.
type Timeouts struct {
	Open   time.Duration // 30 s
	Invoke time.Duration // 30 s
	Close  time.Duration // 5 s: a person is looking at the ✕
	Read   time.Duration // of content; 30 s
}

// WithDefaults returns the timeouts with the default in each field that is zero.
func (t Timeouts) WithDefaults() Timeouts {
	for _, f := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&t.Open, 30 * time.Second}, {&t.Invoke, 30 * time.Second}, {&t.Close, 5 * time.Second}, {&t.Read, 30 * time.Second}} {
		if *f.v == 0 {
			*f.v = f.def
		}
	}
	return t
}
