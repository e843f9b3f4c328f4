package aamcanvas

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// sealFor seals a secret as the page does.
func sealFor(t testing.TB, to keyMessage, secret string, about ...string) *Sealed {
	t.Helper()
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	fatal(err)
	raw, err := base64.StdEncoding.DecodeString(to.Key)
	fatal(err)
	theirs, err := ecdh.P256().NewPublicKey(raw)
	fatal(err)
	shared, err := own.ECDH(theirs)
	fatal(err)
	key, err := hkdf.Key(sha256.New, shared, nil, sealInfo, 32)
	fatal(err)
	block, err := aes.NewCipher(key)
	fatal(err)
	gcm, err := cipher.NewGCM(block)
	fatal(err)
	iv := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(iv)
	b64 := base64.StdEncoding.EncodeToString
	return &Sealed{to.To, b64(own.PublicKey().Bytes()), b64(iv), b64(gcm.Seal(nil, iv, []byte(secret), []byte(strings.Join(about, "\n"))))}
}

// TestSealedOnce: a box opens once, for the View that has the key, and for what it was
// sealed for.
func TestSealedOnce(t *testing.T) {
	t.Parallel()
	a, b := canvas.View{Conn: 1, ClientID: "a"}, canvas.View{Conn: 2, ClientID: "a"}
	about := []string{"grant", "42-17", "add_card"}
	for name, try := range map[string]struct {
		by    canvas.View
		about []string
		twice bool
		bend  func(*Sealed)
	}{
		"right":             {a, about, false, nil},
		"a second time":     {a, about, true, nil},
		"other View":        {b, about, false, nil},
		"other request":     {a, []string{"grant", "42-18", "add_card"}, false, nil},
		"other key":         {a, about, false, func(s *Sealed) { s.To = "another" }},
		"bent box":          {a, about, false, func(s *Sealed) { s.Box = "AAAA" + s.Box[4:] }},
		"no base64":         {a, about, false, func(s *Sealed) { s.IV = "?" }},
		"a point elsewhere": {a, about, false, func(s *Sealed) { s.Key = base64.StdEncoding.EncodeToString(make([]byte, 65)) }},
	} {
		var keys sealKeys
		key, err := keys.fresh(a)
		if err != nil {
			t.Fatal(err)
		}
		box := sealFor(t, key, "123456", about...)
		if try.bend != nil {
			try.bend(box)
		}
		secret, err := keys.open(try.by, box, try.about...)
		if try.twice {
			secret, err = keys.open(try.by, box, try.about...)
		}
		if opened := err == nil && bytes.Equal(secret, []byte("123456")); opened != (name == "right") {
			t.Errorf("%s: opened %v, %v", name, opened, err)
		}
	}
	if _, err := new(sealKeys).open(a, nil); err == nil {
		t.Error("no box at all is accepted")
	}
}

// TestSealJS: what the page's script seals, the provider opens.
func TestSealJS(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	script, err := os.ReadFile("page/seal.js")
	if err != nil {
		t.Fatal(err)
	}
	var keys sealKeys
	key, err := keys.fresh(canvas.View{Conn: 1})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module")
	cmd.Stdin = strings.NewReader(fmt.Sprintf("%s\nconsole.log(JSON.stringify(await seal(%s, 'geheim ü', 'grant', '42-17')));", script, ahp.MustMarshal(key)))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var box Sealed
	if err := ahp.Unmarshal(out, &box); err != nil {
		t.Fatal(err)
	}
	if secret, err := keys.open(canvas.View{Conn: 1}, &box, "grant", "42-17"); string(secret) != "geheim ü" {
		t.Errorf("%q, %v", secret, err)
	}
}

// TestNoCryptography: a page whose browser cannot encrypt sends no secret, and says what to do. The page's own
// modules run in Node without Web Crypto; what canvas.js would send is printed.
func TestNoCryptography(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	provider, err1 := os.ReadFile("page/provider.js")
	sealing, err2 := os.ReadFile("page/seal.js")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const start = `Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: (a) => a.fill(7) } });
		const onMessage = () => {}, send = async (m) => { console.log("sent", JSON.stringify(m)); };
	`
	script := start + string(sealing) + string(provider)
	for _, line := range []string{`import { onMessage, send } from "/.ahp/canvas.js";`, `import { canSeal, seal } from "./seal.js";`} {
		if !strings.Contains(script, line) {
			t.Fatalf("no %s", line)
		}
		script = strings.Replace(script, line, "", 1)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module")
	cmd.Stdin = strings.NewReader(script + `
		await requestSealed({ aam: "decide", ask: "a", digest: "d", decision: "approved" }, "geheim", "decide").catch((err) => console.log(err.message));`)
	out, err := cmd.CombinedOutput()
	if want := "This browser cannot encrypt a secret here. Open the page on this machine or over https."; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v", out, err)
	}
}
