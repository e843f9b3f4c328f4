package channels

import (
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Entry is a published or refused action with its sequence number.
type Entry struct {
	// Seq is the entry's serverSeq.
	Seq int64
	// Channel is the URI of the entry's channel.
	Channel string
	// Audience says which subscribers receive the entry.
	Audience Audience

	row      *ahp.ActionRow // nil for a refused action of an unknown type
	envelope ahp.Value      // the encoded ActionEnvelope
	frame    *Frame         // the notification that contains it
	of       *channel       // nil if there was no channel of that URI
}

const (
	notificationHead = `{"jsonrpc":"2.0","method":"action","params":`
	notificationTail = `}`
)

// newEntry encodes the envelope by hand around the action's own bytes, because it
// runs once for every action, under the lock.
func newEntry(seq int64, ch string, action *ahp.EncodedAction, origin *ahp.Origin, reason string, to Audience) *Entry {
	size := entrySize(ch, action) + len(reason)
	var pooled *[]byte
	if reason == "" { // refusals are retained, so they own their memory
		pooled = buffer(size, &to)
	}
	var b []byte
	if pooled != nil {
		b = *pooled
	} else {
		b = make([]byte, 0, size)
	}
	return endEntry(beginEntry(b, ch, action), pooled, seq, ch, action, origin, reason, to)
}

// entrySize is the size of an entry's notification at most, without the reason of a
// refusal.
func entrySize(ch string, action *ahp.EncodedAction) int {
	return len(notificationHead) + action.Size() + len(ch) + 160
}

// beginEntry appends the part of an entry's notification that does not depend on the log.
func beginEntry(b []byte, ch string, action *ahp.EncodedAction) []byte {
	b = append(b, notificationHead...)
	b = append(b, `{"channel":`...)
	b = ahp.AppendString(b, ch)
	b = append(b, `,"action":`...)
	return action.Append(b)
}

// endEntry is newEntry for a notification that beginEntry has begun.
func endEntry(b []byte, pooled *[]byte, seq int64, ch string, action *ahp.EncodedAction, origin *ahp.Origin, reason string, to Audience) *Entry {
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
		b = ahp.AppendString(b, strings.ToValidUTF8(reason, "\uFFFD")) // it might quote the client
	}
	b = append(b, '}')
	envelope := ahp.Value(b[len(notificationHead):])
	b = append(b, notificationTail...)
	return &Entry{
		Seq: seq, Channel: ch, Audience: to, row: action.Row,
		envelope: envelope[:len(b)-len(notificationHead)-len(notificationTail)], frame: &Frame{bytes: b, buffer: pooled},
	}
}

// size is the memory that an entry takes in a ring, in bytes.
func (e *Entry) size() int {
	return len(notificationHead) + len(e.envelope) + len(notificationTail) + len(e.Channel) + 64
}
