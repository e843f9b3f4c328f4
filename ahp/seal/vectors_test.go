package seal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/flynn/noise"
)

// hexBytes is a byte string that a vector has as hex digits.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// vector is a handshake with transport messages, which alternate between both sides.
type vector struct {
	Name          string   `json:"protocol_name"`
	Prologue      hexBytes `json:"init_prologue"`
	InitEphemeral hexBytes `json:"init_ephemeral"`
	Public        hexBytes `json:"init_remote_static"`
	Private       hexBytes `json:"resp_static"`
	RespEphemeral hexBytes `json:"resp_ephemeral"`
	Hash          hexBytes `json:"handshake_hash"`
	Messages      []struct {
		Payload, Ciphertext hexBytes
	} `json:"messages"`
}

// TestCacophonyVectors runs the cipher suite and the transport of this package against the
// vectors of another implementation. canvas/web runs the same file in a browser.
func TestCacophonyVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/cacophony.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vector
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if want := "Noise_NK_" + string(suite.Name()); v.Name != want {
		t.Fatalf("the vector is of %s, want %s", v.Name, want)
	}
	config := func(initiator bool, ephemeral []byte) noise.Config {
		return noise.Config{CipherSuite: suite, Pattern: noise.HandshakeNK, Initiator: initiator, Prologue: v.Prologue, Random: bytes.NewReader(ephemeral)}
	}
	a, b := config(true, v.InitEphemeral), config(false, v.RespEphemeral)
	a.PeerStatic = v.Public
	b.StaticKeypair = noise.DHKey{Private: v.Private, Public: v.Public}
	client, err := noise.NewHandshakeState(a)
	if err != nil {
		t.Fatal(err)
	}
	host, err := noise.NewHandshakeState(b)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _, err := client.WriteMessage(nil, v.Messages[0].Payload)
	if err != nil || !bytes.Equal(first, v.Messages[0].Ciphertext) {
		t.Fatalf("first message %x, %v", first, err)
	}
	if _, _, _, err = host.ReadMessage(nil, first); err != nil {
		t.Fatal(err)
	}
	second, receive, send, err := host.WriteMessage(nil, v.Messages[1].Payload)
	if err != nil || !bytes.Equal(second, v.Messages[1].Ciphertext) {
		t.Fatalf("second message %x, %v", second, err)
	}
	atHost := &codec{send: direction{cipher: send}, receive: direction{cipher: receive}}
	_, send, receive, err = client.ReadMessage(nil, second)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(client.ChannelBinding(), v.Hash) {
		t.Errorf("handshake hash %x", client.ChannelBinding())
	}
	ends := []*codec{{send: direction{cipher: send}, receive: direction{cipher: receive}}, atHost}
	for i, m := range v.Messages[2:] {
		plain := append(make([]byte, 0, 200), m.Payload...)
		sealed, err := ends[i%2].Seal(plain)
		if err != nil || !bytes.Equal(sealed, m.Ciphertext) {
			t.Errorf("message %d: %x, %v", i+2, sealed, err)
		}
		if opened, err := ends[1-i%2].Open(sealed); err != nil || !bytes.Equal(opened, m.Payload) {
			t.Errorf("message %d opened: %x, %v", i+2, opened, err)
		}
	}
}
