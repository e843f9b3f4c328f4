package reach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// maxAccess limits an answer, in bytes.
const maxAccess = 8 << 20

// Access calls an endpoint of the host's tokens with the agent's token, and decodes the
// answer.
func (t Target) Access(ctx context.Context, env *term.Env, method, path string, body, into any) error {
	h, err := t.Resolve(env)
	if err != nil {
		return err
	}
	var data []byte
	if body != nil {
		data = ahp.MustMarshal(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, h.Address()+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+h.Token)
	transport := mcp.NewTransport()
	defer transport.CloseIdleConnections()
	transport.DialContext = proof.NewVerifier(h.MCP, h.Token, transport.DialContext).Dial
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return h.Error(term.Failf(mcp.CodeUnreachable, "the host cannot be reached: %v", errors.Unwrap(err)))
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAccess))
	if err != nil {
		return h.Error(term.Failf(mcp.CodeUnreachable, "the host's answer was cut off: %v", err))
	}
	return h.accessAnswer(resp.StatusCode, answer, into)
}

// accessAnswer decodes the answer of an endpoint of tokens.
func (h Host) accessAnswer(status int, answer []byte, into any) error {
	switch status {
	case http.StatusOK:
		if err := ahp.Unmarshal(answer, into); err == nil {
			return nil
		}
	case http.StatusUnauthorized, http.StatusForbidden:
		return h.Error(term.Failf(mcp.CodeTokenRefused, "the host needs its agent token for this"))
	}
	var failed struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if ahp.Unmarshal(answer, &failed) != nil || failed.Code == "" {
		return h.Error(term.Failf(mcp.CodeUnreachable, "the answer (HTTP %d) does not come from a canvas host of this version", status))
	}
	return h.Error(term.Failf(failed.Code, "%s", failed.Message))
}
