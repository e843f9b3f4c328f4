package canvas

import "github.com/ahp-canvas/ahp-canvas/session"

// Declaration is one canvas that a provider offers: what a person calls it, what
// it is for, what it is opened with (a JSON Schema of an object) and its
// actions.
type Declaration = session.ClientCanvasDeclaration

// Action is an action that a canvas understands. Its name may not begin with
// "canvas.".
type Action = session.SessionCanvasAction
