package jws

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

var errText = errors.New("jws: the token is not in its exact base64url form")

// Parse reads a token whose header names an algorithm. It does not verify the signature.
func Parse(token string, algorithm jose.SignatureAlgorithm) (*jose.JSONWebSignature, error) {
	if strings.ContainsAny(token, "\r\n") {
		return nil, errText
	}
	for part := range strings.SplitSeq(token, ".") {
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return nil, errText
		}
	}
	return jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{algorithm})
}
