package a2ui

import (
	"context"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Agent is a program that draws surfaces and receives what people do in them, such as an
// A2A agent. Its methods may be called concurrently.
type Agent interface {
	// Name is how the agent is shown to people, and the owner of its surfaces.
	Name() string
	// Send sends one turn and returns when the agent's answer has ended. It calls on for
	// each part of the answer, one at a time and in order. It returns soon after ctx is
	// canceled. Its errors are *[Error] and contain no URL.
	Send(ctx context.Context, t Turn, on func(Reply)) error
}

// Turn is what an agent receives at a time.
type Turn struct {
	// ContextID and TaskID continue a conversation: the last ones that the agent gave in a
	// Reply. "" begins one.
	ContextID, TaskID string
	// Text is what the person, or another agent, says; "" is nothing.
	Text string
	// Messages are client-to-server messages: actions and errors, with the version of
	// their surface. They may be empty.
	Messages []ahp.Value
	// Model is the a2uiClientDataModel with the models of this agent's surfaces alone; nil
	// if none of them syncs.
	Model ahp.Value
	// Capabilities are the a2uiClientCapabilities of the pages; nil is the basic catalog.
	Capabilities ahp.Value
}

// Reply is a part of an agent's answer.
type Reply struct {
	// ContextID and TaskID are for the next turn; "" keeps what was.
	ContextID, TaskID string
	// State is a task state of A2A in the spelling of 0.3, such as "working" or
	// "input-required"; "" is no change.
	State string
	// Text is plain text for the person; "" is none.
	Text string
	// Parts are A2UI parts as the agent sent them, each of a form that [Messages] accepts.
	Parts []ahp.Value
	// Ignored counts the parts that are neither text nor A2UI.
	Ignored int
}
