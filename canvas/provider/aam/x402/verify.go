package x402

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The words of x402 for what is wrong with a payment.
const (
	InvalidPayload      = "invalid_payload"
	InvalidVersion      = "invalid_x402_version"
	InvalidScheme       = "invalid_scheme"
	UnsupportedScheme   = "unsupported_scheme"
	InvalidNetwork      = "invalid_network"
	InvalidRequirements = "invalid_payment_requirements"
	InvalidSignature    = "invalid_exact_evm_payload_signature"
	InvalidRecipient    = "invalid_exact_evm_payload_recipient_mismatch"
	InvalidValue        = "invalid_exact_evm_payload_authorization_value"
	InvalidValidAfter   = "invalid_exact_evm_payload_authorization_valid_after"
	InvalidValidBefore  = "invalid_exact_evm_payload_authorization_valid_before"
	InvalidState        = "invalid_transaction_state" // the nonce was used
	UnexpectedVerify    = "unexpected_verify_error"
	UnexpectedSettle    = "unexpected_settle_error"
)

// Reason is why a payment is refused.
type Reason struct {
	// Code is a word of x402.
	Code string
	// Message is for people and agents.
	Message string
}

// Error returns the message, followed by the code.
func (r *Reason) Error() string { return r.Message + " (" + r.Code + ")" }

func reasonf(code, format string, args ...any) *Reason {
	return &Reason{code, fmt.Sprintf(format, args...)}
}

// Nonce is what makes a payment good once.
type Nonce struct {
	// Network is the name of the chain.
	Network string
	// Asset is the contract.
	Asset Address
	// From is the payer.
	From Address
	// Nonce is the payer's choice.
	Nonce Word
}

// String returns the nonce as one key.
func (n Nonce) String() string {
	return n.Network + " " + n.Asset.String() + " " + n.From.String() + " " + n.Nonce.String()
}

// Payment is a payment that was verified.
type Payment struct {
	// Requirement is what it pays.
	Requirement Requirement
	// Data is what was signed.
	Data TypedData
	// Signature is the payer's.
	Signature []byte
	// Raw is the decoded header, for a facilitator.
	Raw ahp.Value
	// Unchecked reports that a smart account signed, and that nothing but a facilitator
	// has checked or will check it. See [Verifier.Facilitated].
	Unchecked bool
}

// Nonce returns what must not be used twice.
func (p Payment) Nonce() Nonce {
	return Nonce{p.Data.Network.Name, p.Data.Network.Asset, p.Data.Authorization.From, p.Data.Authorization.Nonce}
}

// Accounts checks signatures of smart accounts.
type Accounts interface {
	// Valid reports whether the contract at account accepts the signature (ERC-1271).
	Valid(ctx context.Context, n Network, account Address, digest [32]byte, signature []byte) (bool, error)
}

// margin is how long a payment must still be good: the time to execute it.
const margin = 6 * time.Second

// Verifier verifies payments. The zero Verifier knows no used nonces and no smart accounts.
type Verifier struct {
	// Used reports whether a nonce was used. The caller must take the nonce in the same
	// critical section in which it trusts the answer.
	Used func(Nonce) bool
	// Accounts checks smart accounts. Without it they are refused.
	Accounts Accounts
	// Facilitated lets signatures that are not 65 bytes long pass unchecked, for a caller
	// that gives every payment to a facilitator before it acts.
	Facilitated bool
}

// Verify verifies a header X-Payment against a requirement without asking anything outside
// of the process. used can be nil.
func Verify(req Requirement, header string, now time.Time, used func(Nonce) bool) (Payment, *Reason) {
	return Verifier{Used: used}.Verify(context.Background(), req, header, now)
}

// Verify verifies a header X-Payment against a requirement. The order of the checks is:
// form, version, scheme, network, signature, recipient, value, time, nonce.
func (v Verifier) Verify(ctx context.Context, req Requirement, header string, now time.Time) (Payment, *Reason) {
	price, reason := req.Price()
	if reason != nil {
		return Payment{}, reason
	}
	p, reason := parsePayment(header, price.Network)
	if reason != nil {
		return Payment{}, reason
	}
	p.Requirement = req
	if reason := v.signature(ctx, &p); reason != nil {
		return Payment{}, reason
	}
	if reason := v.terms(p, price, now); reason != nil {
		return Payment{}, reason
	}
	return p, nil
}

// parsePayment checks a payment's form, version, scheme and network.
func parsePayment(header string, want Network) (Payment, *Reason) {
	raw, err := decodeHeader(header)
	if err != nil {
		return Payment{}, reasonf(InvalidPayload, "X-Payment is not base64: %v", err)
	}
	var in payload
	if err := ahp.Unmarshal(raw, &in); err != nil {
		return Payment{}, reasonf(InvalidPayload, "X-Payment: %v", err)
	}
	switch {
	case string(in.Version) != "1":
		return Payment{}, reasonf(InvalidVersion, "x402Version is not 1")
	case in.Scheme != Exact:
		return Payment{}, reasonf(InvalidScheme, "scheme %.40q is not %q", in.Scheme, Exact)
	case in.Network != want.Name:
		return Payment{}, reasonf(InvalidNetwork, "network %.40q is not %q", in.Network, want.Name)
	}
	auth, err := in.Payload.Authorization.parse()
	if err != nil {
		return Payment{}, reasonf(InvalidPayload, "X-Payment: %v", err)
	}
	hexed, ok := strings.CutPrefix(in.Payload.Signature, "0x")
	sig, err := hex.DecodeString(hexed)
	if !ok || err != nil || len(sig) == 0 || len(sig) > maxSignature {
		return Payment{}, reasonf(InvalidPayload, "the signature is not 0x and hex digits")
	}
	return Payment{Data: TypedData{want, auth}, Signature: sig, Raw: ahp.Value(raw)}, nil
}

func (in authorizations) parse() (a Authorization, err error) {
	if a.From, err = ParseAddress(in.From); err != nil {
		return a, fmt.Errorf("from: %w", err)
	}
	if a.To, err = ParseAddress(in.To); err != nil {
		return a, fmt.Errorf("to: %w", err)
	}
	for _, n := range []struct {
		name, text string
		out        *Amount
	}{{"value", in.Value, &a.Value}, {"validAfter", in.ValidAfter, &a.ValidAfter}, {"validBefore", in.ValidBefore, &a.ValidBefore}} {
		if *n.out, err = ParseAmount(n.text); err != nil {
			return a, fmt.Errorf("%s: %w", n.name, err)
		}
	}
	if err = a.Nonce.UnmarshalText([]byte(in.Nonce)); err != nil {
		return a, fmt.Errorf("nonce: %w", err)
	}
	return a, nil
}

// signature checks who signed.
func (v Verifier) signature(ctx context.Context, p *Payment) *Reason {
	from, digest := p.Data.Authorization.From, p.Data.Digest()
	if len(p.Signature) == 65 {
		if signer, ok := Recover(digest, p.Signature); ok && signer == from {
			return nil
		}
	}
	if v.Accounts != nil {
		valid, err := v.Accounts.Valid(ctx, p.Data.Network, from, digest, p.Signature)
		switch {
		case err != nil:
			return reasonf(UnexpectedVerify, "the account %s cannot be asked now", from)
		case valid:
			return nil
		}
		return reasonf(InvalidSignature, "the account %s does not accept the signature", from)
	}
	switch {
	case len(p.Signature) == 65:
		return reasonf(InvalidSignature, "the signature is not one of %s", from)
	case v.Facilitated:
		p.Unchecked = true
		return nil
	}
	return reasonf(InvalidPayload, "the signature has %d bytes: smart accounts cannot be checked here", len(p.Signature))
}

// terms checks what was signed.
func (v Verifier) terms(p Payment, price Price, now time.Time) *Reason {
	a := p.Data.Authorization
	second := seconds(now)
	until := seconds(now.Add(margin))
	switch {
	case a.To != price.PayTo:
		return reasonf(InvalidRecipient, "it pays %s, not %s", a.To, price.PayTo)
	case a.Value.Cmp(price.Amount) < 0:
		return reasonf(InvalidValue, "it pays %s USDC, not %s", a.Value.Price(), price.Amount.Price())
	case a.ValidAfter.Cmp(second) > 0:
		return reasonf(InvalidValidAfter, "it is not good yet")
	case a.ValidBefore.Cmp(until) <= 0:
		return reasonf(InvalidValidBefore, "it has expired, or will before it can be executed")
	case v.Used != nil && v.Used(p.Nonce()):
		return reasonf(InvalidState, "its nonce was used")
	}
	return nil
}

// seconds is a time as an amount.
func seconds(t time.Time) Amount { return Amount{number(uint64(max(t.Unix(), 0)))} }

// Recover returns the address that signed a digest. A signature is r, s and v (0, 1, 27 or
// 28), and s must be low: the other half of the signatures are copies of these.
func Recover(digest [32]byte, sig []byte) (Address, bool) {
	if len(sig) != 65 {
		return Address{}, false
	}
	code := sig[64]
	if code >= 27 {
		code -= 27
	}
	var s secp256k1.ModNScalar
	if over := s.SetByteSlice(sig[32:64]); over || s.IsOverHalfOrder() || code > 1 {
		return Address{}, false
	}
	compact := make([]byte, 65)
	compact[0] = 27 + code
	copy(compact[1:], sig[:64])
	key, _, err := ecdsa.RecoverCompact(compact, digest[:])
	if err != nil {
		return Address{}, false
	}
	return addressOf(key), true
}

func addressOf(key *secp256k1.PublicKey) (a Address) {
	sum := keccak(key.SerializeUncompressed()[1:])
	copy(a[:], sum[12:])
	return a
}
