package aamid_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// BenchmarkVerify checks a credential with the keys in the cache, and beside it the RSA
// signature alone. x-rsa is the ratio of the medians.
func BenchmarkVerify(b *testing.B) {
	e := newEnv(b)
	jwt := ""
	for _, c := range e.Cases {
		if c.Expect == "accept" {
			jwt = c.JWT
			break
		}
	}
	var set struct {
		Keys []jose.JSONWebKey `json:"keys"`
	}
	if err := ahp.Unmarshal(ahp.Value(e.JWKS), &set); err != nil {
		b.Fatal(err)
	}
	signed, signature, _ := cutLast(jwt, ".")
	sig, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil {
		b.Fatal(err)
	}
	key, sum := rsaKey(set.Keys, jwt), sha256.Sum256([]byte(signed))
	var verify, alone []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := e.verifier.Verify(b.Context(), jwt, e.want()); err != nil {
			b.Fatal(err)
		}
		verify, began = append(verify, time.Since(began)), time.Now()
		if err := rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], sig); err != nil {
			b.Fatal(err)
		}
		alone = append(alone, time.Since(began))
	}
	b.ReportMetric(float64(median(verify))/float64(median(alone)), "x-rsa")
}

func cutLast(s, sep string) (before, after string, ok bool) {
	n := strings.LastIndex(s, sep)
	return s[:n], s[n+len(sep):], n >= 0
}

// rsaKey is the key of a credential.
func rsaKey(keys []jose.JSONWebKey, jwt string) *rsa.PublicKey {
	head, err := jose.ParseSignedCompact(jwt, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		panic(err)
	}
	n := slices.IndexFunc(keys, func(k jose.JSONWebKey) bool { return k.KeyID == head.Signatures[0].Header.KeyID })
	return keys[n].Key.(*rsa.PublicKey)
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
