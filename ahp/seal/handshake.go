package seal

import (
	"context"
	"fmt"
	"time"

	"github.com/flynn/noise"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// The limits of a handshake.
const (
	handshakeTime  = 10 * time.Second
	handshakeBytes = 1 << 10 // of each of the two messages
)

var suite = noise.NewCipherSuite(noise.DH25519, noise.CipherAESGCM, noise.HashSHA256)

// protocol is the first line of the prologue, with which both ends begin.
const protocol = "ahp-canvas seal/1\n"

// prologue binds a handshake to this protocol and to the name of the host.
func prologue(host string) []byte { return []byte(protocol + host) }

// Identity is what a link says about a host.
type Identity struct {
	// Host is the host's name at the relay.
	Host string
	// Key is the host's public key.
	Key PublicKey
}

// Dial seals a client's connection, which nothing has used yet. If it returns an error, the
// connection is closing, and the host has received nothing. A host that does not have the
// private key is reported by [ws.CodeSealBroken].
func (id Identity) Dial(ctx context.Context, conn *ws.Conn) error {
	defer limitTime(ctx, conn)()
	hs, err := noise.NewHandshakeState(noise.Config{
		CipherSuite: suite, Pattern: noise.HandshakeNK, Initiator: true, Prologue: prologue(id.Host), PeerStatic: id.Key[:],
	})
	if err != nil {
		return fail(conn, err)
	}
	first, _, _, err := hs.WriteMessage(nil, nil)
	if err != nil {
		return fail(conn, err)
	}
	if err := conn.WriteBinary(first); err != nil {
		return err
	}
	second, err := conn.ReadBinary(handshakeBytes)
	if err != nil {
		return err
	}
	payload, send, receive, err := hs.ReadMessage(nil, second)
	if err != nil || len(payload) > 0 {
		return fail(conn, err)
	}
	conn.Seal(&codec{send: direction{cipher: send}, receive: direction{cipher: receive}})
	return nil
}

// answer seals a host's connection whose first message is the beginning of a handshake.
func (h *Host) answer(conn *ws.Conn) error {
	first, err := conn.ReadBinary(handshakeBytes)
	if err != nil {
		return err
	}
	public := h.key.Public()
	hs, err := noise.NewHandshakeState(noise.Config{
		CipherSuite: suite, Pattern: noise.HandshakeNK, Prologue: prologue(h.name),
		StaticKeypair: noise.DHKey{Private: h.key.private.Bytes(), Public: public[:]},
	})
	if err != nil {
		return fail(conn, err)
	}
	payload, _, _, err := hs.ReadMessage(nil, first)
	if err != nil || len(payload) > 0 {
		return fail(conn, err)
	}
	second, receive, send, err := hs.WriteMessage(nil, nil)
	if err != nil {
		return fail(conn, err)
	}
	if err := conn.WriteBinary(second); err != nil {
		return err
	}
	conn.Seal(&codec{send: direction{cipher: send}, receive: direction{cipher: receive}})
	return nil
}

// limitTime closes the connection if ctx ends or the handshake takes too long, until stop
// is called.
func limitTime(ctx context.Context, conn *ws.Conn) (stop func()) {
	late := time.AfterFunc(handshakeTime, func() { conn.Close(ws.CodeSealBroken, "the sealing handshake took too long") })
	release := context.AfterFunc(ctx, func() { conn.Close(ws.CodeNormal, "") })
	return func() {
		late.Stop()
		release()
	}
}

// fail closes the connection after a handshake that does not match. The close says nothing
// about why: it is the same for a wrong key, a wrong name and random bytes.
func fail(conn *ws.Conn, err error) error {
	const reason = "the sealing handshake failed"
	conn.Close(ws.CodeSealBroken, reason)
	if err == nil {
		err = fmt.Errorf("an unexpected payload")
	}
	return &ws.CloseError{Code: ws.CodeSealBroken, Reason: reason, Err: err}
}
