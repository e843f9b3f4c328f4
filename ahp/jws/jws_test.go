package jws_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp/jws"
)

// TestParse: a token is read from its exact text alone.
func TestParse(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	object, err := signer.Sign([]byte(`{"sub":"ann"}`))
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jws.Parse(token, jose.EdDSA); err != nil {
		t.Error(err)
	}
	last := token[len(token)-1]
	for name, text := range map[string]string{
		"a line end":              token[:10] + "\n" + token[10:],
		"a carriage return":       token + "\r",
		"spare bits":              token[:len(token)-1] + string(last+1), // 64 bytes leave four of them
		"padding":                 token + "==",
		"the other alphabet":      strings.Replace(token, ".", "+.", 1),
		"two parts":               token[:strings.LastIndexByte(token, '.')],
		"nothing":                 "",
		"JSON":                    object.FullSerialize(),
		"a signature without end": token + ".",
	} {
		if _, err := jws.Parse(text, jose.EdDSA); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := jws.Parse(token, jose.RS256); err == nil {
		t.Error("another algorithm is accepted")
	}
}
