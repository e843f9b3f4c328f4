package x402_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// BenchmarkVerify verifies a payment, and beside it recovers the signer of one signature,
// which no verification can do without. x-recover is the ratio of the medians.
func BenchmarkVerify(b *testing.B) {
	var v vectors
	load(b, "eip3009_vectors_viem.json", &v)
	req, now := v.Requirement.requirement(), time.Unix(v.EvaluateAtUnix, 0)
	p, reason := x402.Verify(req, v.Cases[0].XPaymentHeader, now, nil)
	raw, err := hex.DecodeString(strings.TrimPrefix(v.Cases[0].Digest, "0x"))
	if reason != nil || err != nil {
		b.Fatal(reason, err)
	}
	digest := [32]byte(raw)
	var verify, recovers []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, reason := x402.Verify(req, v.Cases[0].XPaymentHeader, now, nil); reason != nil {
			b.Fatal(reason)
		}
		verify, began = append(verify, time.Since(began)), time.Now()
		if _, ok := x402.Recover(digest, p.Signature); !ok {
			b.Fatal("no signer")
		}
		recovers = append(recovers, time.Since(began))
	}
	b.ReportMetric(float64(median(verify))/float64(median(recovers)), "x-recover")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
