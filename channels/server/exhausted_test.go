package server_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/server"
)

// full is a store that accepts only its first commit.
type full struct {
	channels.Store
	commits atomic.Int64
}

func (f *full) Commit(ctx context.Context, changes ...channels.Change) error {
	if f.commits.Add(1) > 1 {
		return channels.ErrStoreFull
	}
	return f.Store.Commit(ctx, changes...)
}

// TestSequenceExhausted: a log without sequence numbers refuses handshakes and
// subscriptions, counts dispatches as unreadable, and ends subscriptions.
func TestSequenceExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sequence, err := channels.OpenSequence(t.Context(), &full{Store: channels.NewMemory()}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer sequence.Close()
		log := toysOn(t, channels.New(channels.Options{Sequence: sequence}), "ahp-toy:/a", "ahp-toy:/b")
		s, dial := serve(t, server.Options{Log: log})
		open := dial()
		sendText(t, open, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["0.6.0"],"clientId":"first","initialSubscriptions":["ahp-toy:/a"]}}`)
		expect(t, open, `"result"`)
		err = log.Update(func(tx *channels.Tx) (err error) {
			for range 1<<20 - 1<<16 { // less would leave enough for another transaction
				if err == nil {
					err = tx.Append("ahp-toy:/b", said{})
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		sendText(t, open, `{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"channel":"ahp-toy:/b"}}`)
		expect(t, open, `"error"`)
		sendText(t, open, `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"ahp-toy:/a","clientSeq":1,"action":{"type":"ahp-toy/said","text":"x"}}}`)
		sendText(t, open, `{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"ahp-toy:/a"}}`)
		late := dial()
		sendText(t, late, initializing)
		expect(t, late, `"error"`)
		if _, err := late.ReadMessage(); ws.CodeOf(err) != ws.CodeInternal {
			t.Errorf("after a refused handshake: %v", err)
		}
		synctest.Wait()
		log.View(func(tx *channels.ReadTx) {
			if n := len(tx.Subscribers("ahp-toy:/a")); n != 0 {
				t.Errorf("%d subscribers", n)
			}
		})
		if n := s.Stats().Unreadable; n != 1 {
			t.Errorf("%d unreadable notifications, want 1", n)
		}
	})
}
