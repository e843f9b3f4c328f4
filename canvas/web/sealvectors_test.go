package web_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// sealVectors runs the vectors of ahp/seal with the page's noise.js, and changes each bit of a
// frame. It returns what is wrong.
const sealVectors = `(async (v) => {
	const { Handshake } = await import("./noise.js");
	const bytes = (hex) => Uint8Array.from(hex.match(/../g), (b) => parseInt(b, 16));
	const hex = (b) => Array.from(b, (n) => n.toString(16).padStart(2, "0")).join("");
	const wrong = [];
	const is = (what, got, want) => got === want || wrong.push(what + ": " + got);
	// A private key is imported with the header of its PKCS #8 form (RFC 8410).
	const secret = await crypto.subtle.importKey("pkcs8", bytes("302e020100300506032b656e04220420" + v.init_ephemeral), { name: "X25519" }, false, ["deriveBits"]);
	const h = new Handshake(bytes(v.init_prologue), bytes(v.init_remote_static), { private: secret, public: bytes(v.messages[0].ciphertext.slice(0, 64)) });
	is("first", hex(await h.first(bytes(v.messages[0].payload))), v.messages[0].ciphertext);
	const done = await h.second(bytes(v.messages[1].ciphertext));
	is("second", hex(done.payload), v.messages[1].payload);
	is("hash", hex(done.hash), v.handshake_hash);
	is("third", hex(await done.out.seal(bytes(v.messages[2].payload))), v.messages[2].ciphertext);
	is("fourth", hex(await done.in.open(bytes(v.messages[3].ciphertext))), v.messages[3].payload);
	is("fifth", hex(await done.out.seal(bytes(v.messages[4].payload))), v.messages[4].ciphertext);
	is("sixth", hex(await done.in.open(bytes(v.messages[5].ciphertext))), v.messages[5].payload);
	const { Cipher } = await import("./noise.js");
	const key = crypto.getRandomValues(new Uint8Array(32));
	const frame = await new Cipher(key).seal(crypto.getRandomValues(new Uint8Array(200)));
	const opens = async (changed) => new Cipher(key).open(changed).then(() => true, () => false);
	if (!await opens(frame)) wrong.push("a frame does not open");
	for (let bit = 0; bit < frame.length * 8; bit++) {
		const changed = frame.slice();
		changed[bit >> 3] ^= 1 << (bit & 7);
		if (await opens(changed)) wrong.push("bit " + bit + " can be changed");
	}
	return wrong;
})`

// TestSealVectors runs the page's handshake and ciphers against the vectors of another
// implementation. No bit of a frame can be changed.
func TestSealVectors(t *testing.T) {
	data, err := os.ReadFile("../../ahp/seal/testdata/cacophony.json")
	if err != nil {
		t.Fatal(err)
	}
	p := webtest.Start(t).Open(t, start(t, nil).origin+"/")
	if wrong := webtest.Eval[[]string](t, p, fmt.Sprintf("%s(%s)", sealVectors, data)); len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
}
