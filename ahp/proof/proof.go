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

// Path is where a host answers.
const Path = "/proof"

// scope stands first in what a proof is of, so that it is good for nothing else.
const scope = "ahp-canvas host\n"

// Of is the proof of a token for the name and port at which the host was asked and
// the asker's nonce (32 to 64 lower-case hex digits), in hex: the HMAC-SHA256 under
// the token of "ahp-canvas host\n" at "\n" nonce.
func Of(token, at, nonce string) string {
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "%s%s\n%s", scope, at, nonce)
	return hex.EncodeToString(mac.Sum(nil))
}

const maxAnswer = 64 << 10 // bytes with its head: a thousand tokens

// errNoProof is an answer without the proof.
var errNoProof = errors.New("the answer is no proof")

// ask asks who is at the other end of a new connection to prove the token. The error
// wraps errNoProof where that one answers, and cannot, and os.ErrDeadlineExceeded where
// it takes longer than it may; after nil the connection is as it was, and may carry
// something else.
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

func exchange(nc net.Conn, at, token string) error {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	nonce := hex.EncodeToString(random[:])
	question := url.URL{Scheme: "http", Host: at, Path: Path, RawQuery: url.Values{"at": {at}, "nonce": {nonce}}.Encode()}
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
		return errors.New("what listens there has no time to answer")
	case !contains(string(said), Of(token, at, nonce)):
		return errNoProof
	case resp.Close || r.Buffered() > 0:
		return errors.New("the host ends the connection on which it was asked")
	}
	return nil
}

func contains(lines, proof string) bool {
	for line := range strings.Lines(lines) {
		if hmac.Equal([]byte(strings.TrimSuffix(line, "\n")), []byte(proof)) {
			return true
		}
	}
	return false
}
