package channels

import (
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Entry is one envelope of the log.
type Entry struct {
	Seq      int64
	Channel  string
	Audience Audience

	row      *ahp.ActionRow // nil where the type is unknown (a refusal)
	envelope ahp.Value      // the ActionEnvelope, encoded
	frame    *Frame         // the action notification around it
	of       *channel       // the channel's incarnation; nil where there was none
}

const (
	notificationHead = `{"jsonrpc":"2.0","method":"action","params":`
	notificationTail = `}`
)

// newEntry encodes the envelope by hand around the action's own bytes: this is
// the hot path, and every value in it but the strings is a number.
func newEntry(seq int64, ch string, action *ahp.EncodedAction, origin *ahp.Origin, reason string, to Audience) *Entry {
	size := len(notificationHead) + action.Size() + len(ch) + len(reason) + 160
	var lent *[]byte
	if reason == "" { // a refusal is kept, whoever it is for
		lent = space(size, &to)
	}
	var b []byte
	if lent != nil {
		b = *lent
	} else {
		b = make([]byte, 0, size)
	}
	b = append(b, notificationHead...)
	b = append(b, `{"channel":`...)
	b = ahp.AppendString(b, ch)
	b = append(b, `,"action":`...)
	b = action.Append(b)
	b = append(b, `,"serverSeq":`...)
	b = strconv.AppendInt(b, seq, 10)
	if origin != nil {
		b = append(b, `,"origin":{"clientId":`...)
		b = ahp.AppendString(b, origin.ClientID)
		b = append(b, `,"clientSeq":`...)
		b = strconv.AppendInt(b, origin.ClientSeq, 10)
		b = append(b, '}')
	}
	if reason != "" {
		b = append(b, `,"rejectionReason":`...)
		b = ahp.AppendString(b, strings.ToValidUTF8(reason, "\uFFFD")) // it may quote anybody
	}
	b = append(b, '}')
	envelope := ahp.Value(b[len(notificationHead):])
	b = append(b, notificationTail...)
	return &Entry{
		Seq: seq, Channel: ch, Audience: to, row: action.Row,
		envelope: envelope[:len(b)-len(notificationHead)-len(notificationTail)], frame: &Frame{bytes: b, space: lent},
	}
}

// size is what an entry counts for in a ring.
func (e *Entry) size() int {
	return len(notificationHead) + len(e.envelope) + len(notificationTail) + len(e.Channel) + 64
}
