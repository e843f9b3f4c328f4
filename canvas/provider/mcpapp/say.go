package mcpapp

import (
	"context"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

const (
	maxSay       = 64 << 10
	maxMessages  = 10       // ui/message in a minute
	maxInline    = 32 << 10 // of a picture or a blob in an event
	maxEventSize = 60 << 10
)

// sayRates limits what the pages of an instance say to the agent.
type sayRates struct {
	mu       sync.Mutex
	messages []time.Time // of the last minute
	last     string      // the last context
	raised   time.Time   // when a context was raised last
	pending  *pending    // a context that waits for the end of the second
}

// pending is a context that waits; a newer one replaces it.
type pending struct {
	event  ahp.Value
	raised chan struct{} // closed after err is set
	err    error
}

// message reports whether one more message is within the rate.
func (s *sayRates) message(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.messages) > 0 && now.Sub(s.messages[0]) > time.Minute {
		s.messages = s.messages[1:]
	}
	if len(s.messages) >= maxMessages {
		return false
	}
	s.messages = append(s.messages, now)
	return true
}

// contextEvery is the time between two contexts for the agent.
const contextEvery = time.Second

// context raises the newest context of each second, and drops one that equals the last. It
// returns after the context, or a newer one, was raised. The first caller of a second waits
// for its end, and no longer than ctx.
func (s *sayRates) context(ctx context.Context, text string, event ahp.Value, raise func(ahp.Value) error) error {
	s.mu.Lock()
	if s.last == text {
		s.mu.Unlock()
		return nil
	}
	s.last = text
	if p := s.pending; p != nil {
		p.event = event
		s.mu.Unlock()
		select {
		case <-p.raised:
			return p.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p := &pending{event: event, raised: make(chan struct{})}
	s.pending = p
	timer := time.NewTimer(time.Until(s.raised.Add(contextEvery)))
	s.mu.Unlock()
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(p.raised)
	s.pending, s.raised = nil, time.Now()
	if p.err = ctx.Err(); p.err == nil {
		p.err = raise(p.event)
	}
	return p.err
}

// serveSay takes what a View says: to the agent, or to the log.
func (i *instance) serveSay(w http.ResponseWriter, r *http.Request) {
	req, bad := readRequest(r.Body, maxSay)
	if bad == nil {
		bad = i.say(req)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(response(req.ID, struct{}{}, bad))
}

// appEvent is an event for the agent. Its words are the app's, not the person's.
type appEvent struct {
	Type       string         `json:"type"`
	App        implementation `json:"app"`
	Role       string         `json:"role,omitzero"`
	Content    ahp.Value      `json:"content,omitzero"`
	Structured ahp.Value      `json:"structuredContent,omitzero"`
}

func (i *instance) say(req rpcRequest) *rpcError {
	var p struct {
		Content    ahp.Value `json:"content,omitzero"`
		Structured ahp.Value `json:"structuredContent,omitzero"`
		Level      string    `json:"level,omitzero"`
		Data       ahp.Value `json:"data,omitzero"`
		Logger     string    `json:"logger,omitzero"`
	}
	if req.Params != nil && ahp.Unmarshal(req.Params, &p) != nil {
		return &rpcError{codeParams, "invalid params"}
	}
	event := appEvent{App: i.app()}
	switch req.Method {
	case "notifications/message":
		i.server.log.Note("page: %s: %s", oneLine(p.Level, 20), oneLine(string(p.Data), logLine))
		return nil
	case "ui/message":
		if !i.says.message(time.Now()) {
			return &rpcError{codeServer, "too many messages: 10 a minute are the limit"}
		}
		event.Type, event.Role = "app.message", "user"
	case "ui/update-model-context":
		event.Type, event.Structured = "app.context", p.Structured
	default:
		return &rpcError{codeMethod, "method not found"}
	}
	content, ok := blocks(p.Content)
	if !ok {
		return &rpcError{codeParams, "content: want a list of content blocks"}
	}
	event.Content = content
	raw := ahp.MustMarshal(event)
	if len(raw) > maxEventSize {
		return &rpcError{codeServer, "the message is too large for the agent"}
	}
	var err error
	if event.Type == "app.context" {
		err = i.says.context(i.ctx, string(p.Content)+"\x00"+string(p.Structured), raw, i.handle.Raise)
	} else {
		err = i.handle.Raise(raw)
	}
	if err != nil {
		return &rpcError{codeServer, "the canvas is not open any more"}
	}
	return nil
}

// app returns who an event comes from.
func (i *instance) app() implementation {
	i.mu.Lock()
	c := i.conn
	i.mu.Unlock()
	if init := c.session.InitializeResult(); init != nil && init.ServerInfo != nil {
		return implementation{oneLine(init.ServerInfo.Name, maxTitle), oneLine(init.ServerInfo.Version, 40)}
	}
	return implementation{Name: i.server.server.Name}
}

// blocks returns content as a list of blocks. Large pictures and blobs are replaced by their
// type and size. Content is a list, or one block.
func blocks(content ahp.Value) (ahp.Value, bool) {
	if content == nil {
		return nil, true
	}
	if content.Kind() == '{' {
		content = ahp.MustMarshal([]ahp.Value{content})
	}
	var list []map[string]ahp.Value
	if ahp.Unmarshal(content, &list) != nil {
		return nil, false
	}
	replaced := false
	for n, block := range list {
		if data := block["data"]; len(data) > maxInline {
			replaced = true
			list[n] = map[string]ahp.Value{"type": block["type"], "mimeType": block["mimeType"], "bytes": ahp.MustMarshal(len(data) * 3 / 4)}
			for name, v := range list[n] {
				if v == nil {
					delete(list[n], name)
				}
			}
		}
	}
	if !replaced {
		return content, true
	}
	return ahp.MustMarshal(list), true
}

// The limits of a result for an agent, below those of an action's value
// (canvas/PROTOCOL.md section 8).
const (
	maxForAgent    = 60 << 10
	maxAgentDepth  = 60
	maxAgentValues = 16000
)

// agentResult is a result as an agent reads it.
type agentResult struct {
	Content    ahp.Value `json:"content"`
	Structured ahp.Value `json:"structuredContent,omitzero"`
	IsError    bool      `json:"isError,omitzero"`
	Note       string    `json:"note,omitzero"`
}

// forAgent returns a result for an agent: its content, or the structured content only if
// there is none, because that is for the page. The longest text is cut.
func forAgent(r *sdk.CallToolResult) ahp.Value {
	raw, err := ahp.Marshal(r)
	var all agentResult
	if err != nil || ahp.Unmarshal(raw, &all) != nil {
		return ahp.MustMarshal(agentResult{Content: ahp.Value("[]"), Note: "the result cannot be shown as JSON"})
	}
	if content, ok := blocks(all.Content); ok {
		all.Content = content
	}
	if len(r.Content) > 0 {
		all.Structured = nil
	} else {
		all.Content = ahp.Value("[]")
	}
	if depth, values := ahp.Measure(ahp.MustMarshal(all)); depth > maxAgentDepth || values > maxAgentValues {
		return ahp.MustMarshal(agentResult{Content: ahp.Value("[]"), IsError: all.IsError, Note: "the result is too deep or has too many values and is left out; the page shows it"})
	}
	if len(all.Structured) > maxForAgent {
		all.Structured, all.Note = nil, "the result was too large and is left out; the page shows it"
	}
	if len(all.Content) > maxForAgent {
		all.Content, all.Note = cutTexts(all.Content), "the result was too large and is cut; the page shows all of it"
	}
	return ahp.MustMarshal(all)
}

// cutTexts cuts the longest text of a list of blocks, and drops what still does not fit.
func cutTexts(content ahp.Value) ahp.Value {
	var list []map[string]ahp.Value
	if ahp.Unmarshal(content, &list) != nil {
		return ahp.Value("[]")
	}
	longest, at := 0, -1
	for n, b := range list {
		if len(b["text"]) > longest {
			longest, at = len(b["text"]), n
		}
	}
	var text string
	if at >= 0 && ahp.Unmarshal(list[at]["text"], &text) == nil {
		keep := max(0, len(text)-(len(content)-maxForAgent)*2-8)
		for {
			list[at]["text"] = ahp.MustMarshal(validPrefix(text, keep) + "…")
			if raw := ahp.MustMarshal(list); len(raw) <= maxForAgent || keep == 0 {
				break
			}
			keep /= 2
		}
	}
	if raw := ahp.MustMarshal(list); len(raw) <= maxForAgent {
		return raw
	}
	return ahp.Value("[]")
}

// resultEvent is the event for a result that came after its open or action was answered.
func resultEvent(tool string, result *sdk.CallToolResult, err error, g *Running) ahp.Value {
	e := struct {
		Type    string    `json:"type"`
		Tool    string    `json:"tool"`
		Content ahp.Value `json:"content,omitzero"`
		Result  ahp.Value `json:"structuredContent,omitzero"`
		IsError bool      `json:"isError,omitzero"`
		Error   string    `json:"error,omitzero"`
	}{Type: "app.result", Tool: tool}
	if err != nil {
		e.IsError, e.Error = true, g.toAgent(err).Error()
		return ahp.MustMarshal(e)
	}
	var r agentResult
	_ = ahp.Unmarshal(forAgent(result), &r) // it was written here
	e.Content, e.Result, e.IsError = r.Content, r.Structured, r.IsError
	return ahp.MustMarshal(e)
}
