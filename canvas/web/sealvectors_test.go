package web_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// sealVectors runs the vectors of ahp/seal with the page's noise.js, and returns what
// differs.
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
	return wrong;
})`

// TestSealVectors runs the page's handshake and ciphers against the vectors of another
// implementation.
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
