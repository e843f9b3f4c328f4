package canvas

import "github.com/ahp-canvas/ahp-canvas/session"

// Declaration is a canvas that a provider offers: its name for people, its description
// for agents, the JSON Schema of its input, and its actions.
type Declaration = session.ClientCanvasDeclaration

// Action is an action of a canvas. Its name may not begin with "canvas.".
type Action = session.SessionCanvasAction
