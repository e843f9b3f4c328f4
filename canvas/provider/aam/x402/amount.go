package x402

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/crypto/sha3"
)

// Decimals is how many decimals USDC has: 0.05 USDC are 50000 base units.
const Decimals = 6

// maxDigits is the length of the largest amount, 2^256-1.
const maxDigits = 78

// Amount is a number of base units, from 0 to 2^256-1. The zero Amount is 0.
type Amount struct{ word [32]byte }

// ParseAmount reads base units: decimal digits without sign, point or leading zeros.
func ParseAmount(s string) (Amount, error) {
	if len(s) == 0 || len(s) > maxDigits || !digits(s) || len(s) > 1 && s[0] == '0' {
		return Amount{}, fmt.Errorf("%.90q is not a number of base units", s)
	}
	n, _ := new(big.Int).SetString(s, 10) // it is digits
	if n.BitLen() > 256 {
		return Amount{}, fmt.Errorf("%.90q is above 2^256-1", s)
	}
	var a Amount
	n.FillBytes(a.word[:])
	return a, nil
}

// ParsePrice reads a price in units of the currency, as in "0.05": digits, and at most six
// decimals.
func ParsePrice(s string) (Amount, error) {
	whole, part, point := strings.Cut(s, ".")
	if len(s) > maxDigits || !digits(whole) || point && (!digits(part) || len(part) > Decimals) || len(whole) > 1 && whole[0] == '0' {
		return Amount{}, fmt.Errorf("%.90q is not a price with at most %d decimals", s, Decimals)
	}
	units := strings.TrimLeft(whole+part+strings.Repeat("0", Decimals-len(part)), "0")
	if units == "" {
		units = "0"
	}
	return ParseAmount(units)
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Cmp compares two amounts: -1, 0 or +1.
func (a Amount) Cmp(b Amount) int { return strings.Compare(string(a.word[:]), string(b.word[:])) }

// Add returns the sum, and whether it is an amount.
func (a Amount) Add(b Amount) (Amount, bool) {
	sum := new(big.Int).Add(a.big(), b.big())
	if sum.BitLen() > 256 {
		return Amount{}, false
	}
	sum.FillBytes(a.word[:])
	return a, true
}

// Zero reports whether the amount is 0.
func (a Amount) Zero() bool { return a == Amount{} }

func (a Amount) big() *big.Int { return new(big.Int).SetBytes(a.word[:]) }

// String returns the base units, as ParseAmount reads them.
func (a Amount) String() string { return a.big().String() }

// Price returns the amount in units of the currency, as ParsePrice reads it: at least two
// decimals, and no more than it needs.
func (a Amount) Price() string {
	s := a.String()
	if len(s) <= Decimals {
		s = strings.Repeat("0", Decimals+1-len(s)) + s
	}
	whole, part := s[:len(s)-Decimals], s[len(s)-Decimals:]
	for len(part) > 2 && part[len(part)-1] == '0' {
		part = part[:len(part)-1]
	}
	return whole + "." + part
}

// MarshalText implements encoding.TextMarshaler.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Amount) UnmarshalText(b []byte) (err error) {
	*a, err = ParseAmount(string(b))
	return err
}

// Address is an account or a contract.
type Address [20]byte

// ParseAddress reads an address: 0x and 40 hex digits. Digits in mixed case must be the
// checksum of EIP-55.
func ParseAddress(s string) (Address, error) {
	var a Address
	if err := fromHex(s, a[:]); err != nil {
		return a, fmt.Errorf("%.50q is not an address: 0x and 40 hex digits", s)
	}
	if h := s[2:]; h != strings.ToLower(h) && h != strings.ToUpper(h) && s != a.String() {
		return Address{}, fmt.Errorf("the checksum of address %q is wrong", s)
	}
	return a, nil
}

// fromHex decodes 0x and exactly as many bytes as out has.
func fromHex(s string, out []byte) error {
	if len(s) != 2+2*len(out) || s[:2] != "0x" {
		return fmt.Errorf("want 0x and %d hex digits", 2*len(out))
	}
	_, err := hex.Decode(out, []byte(s[2:]))
	return err
}

// String returns the address with the checksum of EIP-55.
func (a Address) String() string {
	text := []byte(hex.EncodeToString(a[:]))
	sum := keccak(text)
	for i, c := range text {
		nibble := sum[i/2] >> 4
		if i%2 == 1 {
			nibble = sum[i/2] & 15
		}
		if c >= 'a' && nibble >= 8 {
			text[i] = c - 'a' + 'A'
		}
	}
	return "0x" + string(text)
}

// MarshalText implements encoding.TextMarshaler.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Address) UnmarshalText(b []byte) (err error) {
	*a, err = ParseAddress(string(b))
	return err
}

func keccak(parts ...[]byte) (sum [32]byte) {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		_, _ = h.Write(p) // a hash does not fail
	}
	h.Sum(sum[:0])
	return sum
}
