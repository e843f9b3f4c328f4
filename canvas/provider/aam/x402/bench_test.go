package x402_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// BenchmarkVerify verifies a payment; BenchmarkRecover is the signature alone.
func BenchmarkVerify(b *testing.B) {
	var v vectors
	load(b, "eip3009_vectors_viem.json", &v)
	req, now := v.Requirement.requirement(), time.Unix(v.EvaluateAtUnix, 0)
	for b.Loop() {
		if _, reason := x402.Verify(req, v.Cases[0].XPaymentHeader, now, nil); reason != nil {
			b.Fatal(reason)
		}
	}
}

// BenchmarkRecover is one recovery of a signer.
func BenchmarkRecover(b *testing.B) {
	var v vectors
	load(b, "eip3009_vectors_viem.json", &v)
	p, reason := x402.Verify(v.Requirement.requirement(), v.Cases[0].XPaymentHeader, time.Unix(v.EvaluateAtUnix, 0), nil)
	raw, err := hex.DecodeString(strings.TrimPrefix(v.Cases[0].Digest, "0x"))
	if reason != nil || err != nil {
		b.Fatal(reason, err)
	}
	digest := [32]byte(raw)
	for b.Loop() {
		if _, ok := x402.Recover(digest, p.Signature); !ok {
			b.Fatal("no signer")
		}
	}
}
