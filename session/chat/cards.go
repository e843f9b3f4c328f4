package chat

import (
	"encoding/base64"
	"fmt"
	"net/url"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// A card is a tool call whose result clients show as an MCP App: the editor reads
// CardURI on CardChannel and shows the page that it gets. A card takes three actions,
// because clients reduce a tool call step by step.
type (
	// ToolCallStart begins a card.
	ToolCallStart struct {
		// TurnID is the turn.
		TurnID string `json:"turnId"`
		// ToolCallID is unique in the chat.
		ToolCallID string `json:"toolCallId"`
		// ToolName is the tool's name for programs.
		ToolName string `json:"toolName"`
		// DisplayName is the tool's name for people.
		DisplayName string `json:"displayName"`
		// Contributor makes the tool one of an MCP server.
		Contributor Contributor `json:"contributor"`
		// Meta names the card.
		Meta CardMeta `json:"_meta"`
	}
	// ToolCallReady completes the input of a card. It needs no confirmation.
	ToolCallReady struct {
		// TurnID is the turn.
		TurnID string `json:"turnId"`
		// ToolCallID is that of ToolCallStart.
		ToolCallID string `json:"toolCallId"`
		// Contributor is that of ToolCallStart.
		Contributor Contributor `json:"contributor"`
		// InvocationMessage says what is being done.
		InvocationMessage string `json:"invocationMessage"`
		// ToolInput is the input, as JSON text.
		ToolInput string `json:"toolInput"`
		// Confirmed is "not-needed".
		Confirmed string `json:"confirmed"`
		// Meta is that of ToolCallStart.
		Meta CardMeta `json:"_meta"`
	}
	// ToolCallComplete ends a card's tool call. The card stays.
	ToolCallComplete struct {
		// TurnID is the turn.
		TurnID string `json:"turnId"`
		// ToolCallID is that of ToolCallStart.
		ToolCallID string `json:"toolCallId"`
		// Result is what the tool returned.
		Result ToolCallResult `json:"result"`
		// Meta is that of ToolCallStart.
		Meta CardMeta `json:"_meta"`
	}
)

// ActionType returns the tag of each payload.
func (ToolCallStart) ActionType() string    { return "chat/toolCallStart" }
func (ToolCallReady) ActionType() string    { return "chat/toolCallReady" }
func (ToolCallComplete) ActionType() string { return "chat/toolCallComplete" }

// Contributor says whose a tool is.
type Contributor struct {
	Kind            string `json:"kind"`            // "mcp"
	CustomizationID string `json:"customizationId"` // the id of the server
}

// CardMeta is the metadata by which a client shows a tool call as a card.
type CardMeta struct {
	UI CardUI `json:"ui"` // as in MCP Apps
}

// CardUI says where the page of a card is read.
type CardUI struct {
	ResourceURI string `json:"resourceUri"` // see CardURI
	Channel     string `json:"channel"`     // see CardChannel
}

// ToolCallResult is the result of a tool call.
type ToolCallResult struct {
	Success          bool              `json:"success"`          // whether it succeeded
	PastTenseMessage string            `json:"pastTenseMessage"` // what was done
	Content          []ToolCallContent `json:"content"`          // for the model of the client
}

// ToolCallContent is a block of a result.
type ToolCallContent struct {
	Type string `json:"type"` // "text"
	Text string `json:"text"` // the text
}

// ToolCall is a tool call in the state of a chat.
type ToolCall struct {
	ToolCallID        string            `json:"toolCallId"`                 // unique in the chat
	ToolName          string            `json:"toolName"`                   // the tool's name for programs
	DisplayName       string            `json:"displayName"`                // the tool's name for people
	Contributor       Contributor       `json:"contributor"`                // whose the tool is
	Meta              CardMeta          `json:"_meta"`                      // names the card
	Status            string            `json:"status"`                     // streaming, running or completed
	InvocationMessage string            `json:"invocationMessage,omitzero"` // what is being done
	ToolInput         string            `json:"toolInput,omitzero"`         // the input, as JSON text
	Confirmed         string            `json:"confirmed,omitzero"`         // "not-needed"
	Success           bool              `json:"success,omitzero"`           // whether it succeeded
	PastTenseMessage  string            `json:"pastTenseMessage,omitzero"`  // what was done
	Content           []ToolCallContent `json:"content,omitzero"`           // the result
}

const (
	cardURI     = "ui://ahp-canvas/"
	cardChannel = "mcp:/ahp-canvas/"
)

// CardURI returns the URI of the card of an instance.
func CardURI(instanceID string) string { return cardURI + url.PathEscape(instanceID) }

// InstanceOfCard returns the instance of a card's URI.
func InstanceOfCard(uri string) (instanceID string, ok bool) {
	if len(uri) <= len(cardURI) || uri[:len(cardURI)] != cardURI {
		return "", false
	}
	id, err := url.PathUnescape(uri[len(cardURI):])
	return id, err == nil
}

// CardChannel returns the channel on which clients read the cards of a session.
func CardChannel(session string) string {
	return cardChannel + base64.RawURLEncoding.EncodeToString([]byte(session))
}

// SessionOfCards returns the session of such a channel.
func SessionOfCards(channel string) (session string, ok bool) {
	if len(channel) < len(cardChannel) || channel[:len(cardChannel)] != cardChannel {
		return "", false
	}
	b, err := base64.RawURLEncoding.DecodeString(channel[len(cardChannel):])
	return string(b), err == nil
}

// card returns the actions that show an instance in a turn.
func card(turnID, toolCallID, session string, c Shown) []ahp.Action {
	meta := CardMeta{CardUI{CardURI(c.InstanceID), CardChannel(session)}}
	by := Contributor{"mcp", "ahp-canvas"}
	return []ahp.Action{
		ToolCallStart{turnID, toolCallID, "show_canvas", "Show canvas", by, meta},
		ToolCallReady{turnID, toolCallID, by, "Showing " + c.Title, "{}", "not-needed", meta},
		ToolCallComplete{turnID, toolCallID, ToolCallResult{true, "Showed " + c.Title, []ToolCallContent{{"text", "shown"}}}, meta},
	}
}

// reduceCard applies one of a card's actions to the active turn.
func (t *Turn) reduceCard(action ahp.Action) {
	if a, ok := action.(ToolCallStart); ok {
		t.ResponseParts = append(t.ResponseParts, Part{Kind: "toolCall", ToolCall: &ToolCall{
			ToolCallID: a.ToolCallID, ToolName: a.ToolName, DisplayName: a.DisplayName,
			Contributor: a.Contributor, Meta: a.Meta, Status: "streaming",
		}})
		return
	}
	for i, p := range t.ResponseParts {
		if p.ToolCall == nil {
			continue
		}
		c := *p.ToolCall
		switch a := action.(type) {
		case ToolCallReady:
			if a.ToolCallID != c.ToolCallID {
				continue
			}
			c.Status, c.InvocationMessage, c.ToolInput, c.Confirmed = "running", a.InvocationMessage, a.ToolInput, a.Confirmed
		case ToolCallComplete:
			if a.ToolCallID != c.ToolCallID {
				continue
			}
			c.Status, c.Success, c.PastTenseMessage, c.Content = "completed", a.Result.Success, a.Result.PastTenseMessage, a.Result.Content
		}
		t.ResponseParts[i].ToolCall = &c
	}
}

// cardID returns the id of a card's tool call.
func cardID(turnID string, n int) string { return fmt.Sprintf("canvas-%.64s-%d", turnID, n) }
