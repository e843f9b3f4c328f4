package engine

import "github.com/ahp-canvas/ahp-canvas/canvas"

// encodedMessage is a Message whose payload a trusted encoder wrote: it is valid and
// has no white space, so it goes into the envelope without being read again.
type encodedMessage struct{ canvas.Message }

const messageHead = `{"type":"canvas/message","payload":`

func (w encodedMessage) EncodedSize() int { return len(messageHead) + len(w.Payload) + 1 }

func (w encodedMessage) AppendEncoded(b []byte) []byte {
	return append(append(append(b, messageHead...), w.Payload...), '}')
}
