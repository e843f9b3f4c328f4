package proof

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Path is the path at which a host proves itself.
const Path = "/proof"

// scope begins the text of every proof, so that a proof has no other use.
const scope = "ahp-canvas host\n"

// Of returns the proof of a token in hex: the HMAC-SHA256 of "ahp-canvas host\n" at "\n"
// nonce, with the token as the key. at is the name and port of the request, and nonce
// its 32 to 64 lower-case hex digits.
func Of(token, at, nonce string) string {
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "%s%s\n%s", scope, at, nonce)
	return hex.EncodeToString(mac.Sum(nil))
}

const maxAnswer = 64 << 10 // bytes, with the header; enough for a thousand tokens

// errNoProof is returned for an answer without the proof.
var errNoProof = errors.New("the answer has no proof")

// ask asks the server of a new connection to prove the token. The error wraps errNoProof
// if the answer has no proof, and os.ErrDeadlineExceeded if there is none in time. After
// nil, the connection can be used for other requests.
func ask(ctx context.Context, nc net.Conn, at, token string, within time.Duration) error {
	if err := nc.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	cut := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	err := exchange(nc, at, token)
	if !cut() {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return nc.SetDeadline(time.Time{})
}

// exchange sends the request and checks the answer.
func exchange(nc net.Conn, at, token string) error {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	nonce := hex.EncodeToString(random[:])
	sum := sha256.Sum256([]byte(token))
	hash := hex.EncodeToString(sum[:]) // a host that keeps the token as a hash proves with it
	question := url.URL{Scheme: "http", Host: at, Path: Path, RawQuery: url.Values{"at": {at}, "nonce": {nonce}, "id": {hash[:16]}}.Encode()}
	req, err := http.NewRequest(http.MethodGet, question.String(), nil)
	if err != nil {
		return err
	}
	if err := req.Write(nc); err != nil {
		return err
	}
	r := bufio.NewReader(io.LimitReader(nc, maxAnswer))
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return err
	}
	said, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusServiceUnavailable:
		return errors.New("the server has too many connections to answer; try again later")
	case !contains(string(said), Of(token, at, nonce)) && !contains(string(said), Of(hash, at, nonce)):
		return errNoProof
	case resp.Close || r.Buffered() > 0:
		return errors.New("the server closes the connection after its answer")
	}
	return nil
}

// contains reports whether one of the lines is the proof.
func contains(lines, proof string) bool {
	for line := range strings.Lines(lines) {
		if hmac.Equal([]byte(strings.TrimSuffix(line, "\n")), []byte(proof)) {
			return true
		}
	}
	return false
}
