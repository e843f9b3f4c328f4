package x402_test

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

// TestMailExample makes the digest of EIP-712's reference example from the parts that this
// package uses, and recovers its signer.
func TestMailExample(t *testing.T) {
	var v struct{ Digest, Signature, Signer string }
	load(t, "eip712_mail_example.json", &v)
	text := func(s string) []byte { h := x402.Keccak([]byte(s)); return h[:] }
	address := func(s string) []byte {
		a, err := x402.ParseAddress(s)
		if err != nil {
			t.Fatal(err)
		}
		return append(make([]byte, 12), a[:]...)
	}
	hash := func(parts ...[]byte) []byte { h := x402.Keccak(parts...); return h[:] }
	domain := x402.Keccak(text("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
		text("Ether Mail"), text("1"), big.NewInt(1).FillBytes(make([]byte, 32)), address("0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"))
	person := func(name, wallet string) []byte {
		return hash(text("Person(string name,address wallet)"), text(name), address(wallet))
	}
	mail := x402.Keccak(text("Mail(Person from,Person to,string contents)Person(string name,address wallet)"),
		person("Cow", "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"),
		person("Bob", "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"), text("Hello, Bob!"))
	digest := x402.DigestOf(domain, mail)
	if hexOf(digest) != v.Digest {
		t.Fatalf("digest %s, want %s", hexOf(digest), v.Digest)
	}
	sig, err := hex.DecodeString(strings.TrimPrefix(v.Signature, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	if signer, ok := x402.Recover(digest, sig); !ok || signer.String() != v.Signer {
		t.Errorf("signer %s, %v", signer, ok)
	}
}
