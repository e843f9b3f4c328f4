package x402_test

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// TestDomains: what is signed has the domain of the network's USDC, written out here, whatever a
// challenge says that it is. There are two networks.
func TestDomains(t *testing.T) {
	t.Parallel()
	key, err := x402.ParseKey(devKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		network, asset, name, version string
		chain                         int64
	}{
		{"base", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin", "2", 8453},
		{"base-sepolia", "0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC", "2", 84532},
	} {
		body, err := json.Marshal(map[string]any{"x402Version": 1, "accepts": []any{map[string]any{
			"scheme": "exact", "network": c.network, "maxAmountRequired": "50000", "asset": c.asset, "payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
			"extra": map[string]any{"name": "Another Coin", "version": "9", "chainId": 1, "verifyingContract": "0x857b06519E91e3A54538791bDbb0E22373e36b66"},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		list, err := x402.ParseChallenge(body)
		if err != nil {
			t.Fatal(err)
		}
		price, reason := list[0].Price()
		if reason != nil {
			t.Fatal(reason)
		}
		data, err := x402.Authorize(key.Account(), price, time.Minute, time.Unix(1780000000, 0))
		if err != nil {
			t.Fatal(err)
		}
		domain := domainOf(t, c.name, c.version, c.chain, c.asset)
		if got := data.Digest(); got != x402.DigestOf(domain, structOf(t, data.Authorization)) {
			t.Errorf("%s: the digest is not of its domain", c.network)
		}
	}
	for _, name := range []string{"ethereum", "polygon", "base-goerli", "Base", ""} {
		if _, ok := x402.NetworkOf(name); ok {
			t.Errorf("network %q is known", name)
		}
	}
}

func wordOf(t *testing.T, address string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.TrimPrefix(address, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return append(make([]byte, 12), raw...)
}

func hashOf(parts ...[]byte) []byte { h := x402.Keccak(parts...); return h[:] }

func domainOf(t *testing.T, name, version string, chain int64, asset string) [32]byte {
	t.Helper()
	return x402.Keccak(hashOf([]byte("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")),
		hashOf([]byte(name)), hashOf([]byte(version)), big.NewInt(chain).FillBytes(make([]byte, 32)), wordOf(t, asset))
}

func structOf(t *testing.T, a x402.Authorization) [32]byte {
	t.Helper()
	number := func(n x402.Amount) []byte {
		v, ok := new(big.Int).SetString(n.String(), 10)
		if !ok {
			t.Fatal(n)
		}
		return v.FillBytes(make([]byte, 32))
	}
	return x402.Keccak(hashOf([]byte("TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)")),
		wordOf(t, a.From.String()), wordOf(t, a.To.String()), number(a.Value), number(a.ValidAfter), number(a.ValidBefore), a.Nonce[:])
}
