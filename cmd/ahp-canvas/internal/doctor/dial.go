package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// negotiateVersion initializes an AHP connection and returns the protocol version that the
// host picked.
func negotiateVersion(ctx context.Context, address, token string) (string, error) {
	conn, err := ws.Dial(ctx, address, ws.DialOptions{Token: token, HandshakeTimeout: timeout})
	if err != nil {
		return "", err
	}
	defer conn.Wait()
	defer conn.Close(ws.CodeNormal, "")
	defer context.AfterFunc(ctx, func() { conn.Close(ws.CodeGoingAway, "") })()
	request := struct {
		Version string               `json:"jsonrpc"`
		ID      int                  `json:"id"`
		Method  string               `json:"method"`
		Params  ahp.InitializeParams `json:"params"`
	}{"2.0", 1, "initialize", ahp.InitializeParams{Channel: "ahp-root://", ProtocolVersions: []string{ahp.V0_6_0.String()}, ClientID: "ahp-canvas-doctor"}}
	if err := conn.WriteBatch([][]byte{ahp.MustMarshal(request)}); err != nil {
		return "", err
	}
	frame, err := conn.ReadMessage()
	if err != nil {
		return "", err
	}
	var response struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result,omitzero"`
		Error struct {
			Message string `json:"message"`
		} `json:"error,omitzero"`
	}
	if err := ahp.Unmarshal(bytes.TrimSpace(frame), &response); err != nil || response.Result.Version == "" {
		return "", fmt.Errorf("the host rejected the initialize request: %q", response.Error.Message)
	}
	return response.Result.Version, nil
}

// response is the answer to an HTTP request.
type response struct {
	status int
	header http.Header
	body   string
}

// maxBody is how much of an answer is read, in bytes.
const maxBody = 64 << 10

// get requests a path of the host, under another host name if one is given.
func get(ctx context.Context, base *url.URL, path, host string) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.Scheme+"://"+base.Host+path, nil)
	if err != nil {
		return response{}, err
	}
	req.Host = host
	transport := mcp.NewTransport() // that of the other commands
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	return response{resp.StatusCode, resp.Header, string(body)}, err
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// netError returns the text of a network error without the address.
func netError(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return err.Error()
}
