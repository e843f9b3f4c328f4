package server

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/peer"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// replySnapshots answers with a result that has snapshots between two parts of its JSON.
// They are encoded when the answer is sent, once for all connections that wait for the
// same state, and are written without being copied.
func replySnapshots(req *peer.Request, head []byte, snaps []*channels.Snapshot, tail []byte) {
	held := make([]peer.Held, 0, len(snaps))
	for _, s := range snaps {
		held = append(held, s)
	}
	req.ReplyLazyParts(held, func() (int, iter.Seq[[]byte]) {
		parts := [][]byte{head}
		for i, s := range snaps {
			parts = appendSnapshot(parts, s.Encode(), i > 0)
		}
		parts = append(parts, tail)
		size := 0
		for _, p := range parts {
			size += len(p)
		}
		return size, func(yield func([]byte) bool) {
			for _, p := range parts {
				if !yield(p) {
					return
				}
			}
		}
	})
}

// appendSnapshot appends the JSON of a snapshot, around the bytes of its state.
func appendSnapshot(parts [][]byte, s ahp.Snapshot, more bool) [][]byte {
	var b []byte
	if more {
		b = append(b, ',')
	}
	b = append(b, `{"resource":`...)
	b = ahp.AppendString(b, s.Resource)
	b = append(b, `,"state":`...)
	after := strconv.AppendInt([]byte(`,"fromSeq":`), s.FromSeq, 10)
	return append(parts, b, s.State, append(after, '}'))
}

// aroundSnapshots returns the parts of an encoded result before and after the elements of
// its empty list of snapshots.
func aroundSnapshots(result ahp.Value) (head, tail []byte) {
	const list = `"snapshots":[`
	at := bytes.Index(result, []byte(list+"]")) + len(list) // not inside a string, where quotes are escaped
	return result[:at:at], result[at:]
}
