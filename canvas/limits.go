package canvas

import "time"

// Limits are the limits for providers, agents and Views (canvas/PROTOCOL.md section
// 8). Sizes are bytes of JSON unless a comment says otherwise. Each comment ends with
// the default, which a field of zero stands for.
type Limits struct {
	Canvases    int // that a provider may declare; 64
	Actions     int // that a canvas may declare; 64
	SchemaBytes int // of a declared schema; 64 KiB
	SchemaDepth int // of a declared schema, in schemas inside each other; 32

	SessionInstances int // open in one session; 256
	Instances        int // open in the host; 4,096
	Waiting          int // flows in the queue of one instance; 64

	Depth  int // of inputs, values and payloads, in JSON levels; 64
	Values int // in one input, value or payload; 16,384

	InputBytes   int // of open and invoke; 256 KiB
	AnswerBytes  int // of an action's value; 64 KiB
	TextLength   int // code points of a title or status; 512
	MessageBytes int // of a canvas/message payload; 64 KiB
	MailboxBytes int // of messages that a provider has not taken yet, per instance; 1 MiB
	SaveBytes    int // of the data of Handle.Save; 256 KiB
	RecordBytes  int // of one record of a provider; 1 MiB
	RecordsBytes int // of all records of an extension, with 256 bytes each for overhead; 64 MiB
	TitleRate    int // title changes a second in the catalog, per instance; 20

	ContentBytes int // of one content read, before encoding; 16 MiB
	CacheBytes   int // of the cache of encoded content; 64 MiB

	Events     int // kept for the agent, per session; 1,024
	EventBytes int // of the events kept for the agent, per session; 1 MiB
}

// WithDefaults returns the limits with the default in each field that is zero.
func (l Limits) WithDefaults() Limits {
	def := Limits{
		Canvases: 64, Actions: 64, SchemaBytes: 64 << 10, SchemaDepth: 32,
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

// Timeouts limit how long a call to a provider may take (canvas/PROTOCOL.md section
// 3). Each comment names the default, which a field of zero stands for.
type Timeouts struct {
	Open   time.Duration // 30 s
	Invoke time.Duration // 30 s
	Close  time.Duration // 5 s: a person waits for the canvas to disappear
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

// DefaultLimits returns the default of each limit.
func DefaultLimits() Limits { return Limits{}.WithDefaults() }
