package seal

import (
	"github.com/flynn/noise"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// A direction takes its next key after so many frames or bytes with one key. A frame is a
// Noise transport message.
const (
	rekeyFrames = 1 << 20
	rekeyBytes  = 1 << 30
)

// codec encrypts both directions of one connection.
type codec struct{ send, receive direction }

var _ ws.Codec = (*codec)(nil)

// Seal implements ws.Codec.
func (c *codec) Seal(plain []byte) ([]byte, error) {
	sealed, err := c.send.cipher.Encrypt(plain[:0], nil, plain)
	if err != nil {
		return nil, err
	}
	c.send.count(len(sealed))
	return sealed, nil
}

// Open implements ws.Codec.
func (c *codec) Open(sealed []byte) ([]byte, error) {
	plain, err := c.receive.cipher.Decrypt(sealed[:0], nil, sealed)
	if err != nil {
		return nil, err
	}
	c.receive.count(len(sealed))
	return plain, nil
}

// direction encrypts or decrypts what goes one way.
type direction struct {
	cipher *noise.CipherState
	frames int // with the current key
	bytes  int
}

// count counts a frame, and changes the key after the last one that it may have. Both ends
// do so behind the same frame.
func (d *direction) count(size int) {
	d.frames++
	d.bytes += size
	if d.frames < rekeyFrames && d.bytes < rekeyBytes {
		return
	}
	d.cipher.Rekey()
	d.frames, d.bytes = 0, 0
}
