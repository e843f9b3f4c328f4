package conform

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

var sessionWord = regexp.MustCompile(`ahp-session:/([A-Za-z0-9._-]+)`)

// Host describes the tested host.
type Host struct {
	// URL is where the host was tested, without query.
	URL string `json:"url"`
	// Name is the name and version in the host's serverInfo; "" if it has none.
	Name string `json:"name,omitzero"`
	// Version is the protocol version that the host chose.
	Version string `json:"protocolVersion"`
	// Provider is the provider of the sessions in which the cases are played.
	Provider string `json:"provider,omitzero"`
	// Canvas reports whether the state of a session has the Canvas surface.
	Canvas bool `json:"canvas"`
}

// probe learns the host's version and features, and checks that cases can be
// played on it.
func (r *runner) probe(ctx context.Context) error {
	e := &env{opts: &r.opts, ns: namespace{prefix: r.prefix + "p-"}}
	defer e.end()
	conn, err := e.dial(ctx, "probe", r.opts.Token)
	if err != nil {
		return err
	}
	c := &caller{env: e, conn: conn}
	if err := r.greet(c, offered); err != nil {
		if refused, ok := errors.AsType[*ahp.Error](err); ok && refused.Code == ahp.CodeUnsupportedProtocolVersion {
			return r.probeLater(ctx)
		}
		return err
	}
	if err := r.createGiven(c); err != nil {
		return err
	}
	result, err := c.call("subscribe", map[string]any{"channel": given})
	if err != nil {
		return err
	}
	var response struct {
		Snapshot struct {
			State map[string]ahp.Value `json:"state"`
		} `json:"snapshot"`
	}
	if err := ahp.Unmarshal(result, &response); err != nil {
		return fmt.Errorf("the response to subscribe is not valid AHP: %w", err)
	}
	state := response.Snapshot.State
	r.later = r.speaksLater(ctx)
	r.host.Canvas = state["openCanvases"] != nil || state["canvases"] != nil
	_, err = c.call("disposeSession", map[string]any{"channel": given})
	return err
}

// probeLater is probe for a host that speaks later versions only. If it refuses to create a
// session, the cases that need none can still be played.
func (r *runner) probeLater(ctx context.Context) error {
	e := &env{opts: &r.opts, ns: namespace{prefix: r.prefix + "p-"}}
	defer e.end()
	conn, err := e.dial(ctx, "later", r.opts.Token)
	if err != nil {
		return err
	}
	c := &caller{env: e, conn: conn}
	if err := r.greet(c, offeredLater); err != nil {
		return err
	}
	r.later, r.laterOnly = true, true
	r.host.Canvas = true // a chat's state does not say whether it can have canvases
	if r.noSessions = r.createGiven(c) != nil; !r.noSessions {
		_, err = c.call("disposeSession", map[string]any{"channel": given})
	}
	return err
}

// speaksLater reports whether the host accepts a client of 1.0.
func (r *runner) speaksLater(ctx context.Context) bool {
	e := &env{opts: &r.opts, ns: namespace{prefix: r.prefix + "p-"}}
	defer e.end()
	conn, err := e.dial(ctx, "later", r.opts.Token)
	if err != nil {
		return false
	}
	_, err = (&caller{env: e, conn: conn}).call("initialize", map[string]any{
		"channel": ahp.RootURI, "clientId": "later", "protocolVersions": []string{"1.0.0"},
	})
	return err == nil
}

// createGiven creates a session without a provider or, if the host refuses that,
// with the provider that it announced.
func (r *runner) createGiven(c *caller) error {
	params := map[string]any{"channel": given}
	_, err := c.call("createSession", params)
	if err != nil && r.host.Provider != "" {
		params["provider"] = r.host.Provider
		_, err = c.call("createSession", params)
	}
	if err != nil {
		return fmt.Errorf("cannot create a session for the cases: %w", err)
	}
	return nil
}

// greet initializes the probe's connection and learns the host's version and a
// provider of sessions.
func (r *runner) greet(c *caller, versions []string) error {
	result, err := c.call("initialize", map[string]any{
		"channel": ahp.RootURI, "clientId": "probe", "protocolVersions": versions,
		"initialSubscriptions": []string{ahp.RootURI}, "capabilities": map[string]any{ahp.CapabilityCanvas: map[string]any{}},
	})
	if err != nil {
		return err
	}
	var answer struct {
		ProtocolVersion string          `json:"protocolVersion"`
		ServerInfo      *ahp.ServerInfo `json:"serverInfo,omitzero"`
		Snapshots       []struct {
			State struct {
				Agents []struct {
					Provider string `json:"provider"`
				} `json:"agents,omitzero"`
			} `json:"state"`
		} `json:"snapshots"`
	}
	if err := ahp.Unmarshal(result, &answer); err != nil {
		return fmt.Errorf("the response to initialize is not valid AHP: %w", err)
	}
	r.host = Host{URL: hideQuery(r.opts.URL), Version: answer.ProtocolVersion}
	if answer.ServerInfo != nil {
		r.host.Name = answer.ServerInfo.Name + " " + answer.ServerInfo.Version
	}
	for _, s := range answer.Snapshots {
		for _, agent := range s.State.Agents {
			r.host.Provider = agent.Provider
			return nil
		}
	}
	return nil
}

// offered are the versions in which the cases can be played. They are written
// for 0.6.0, and hold for 0.5 if the host has what they need.
var offered = []string{ahp.V0_6_0.String(), "0.5.2", ahp.V0_5_1.String(), ahp.V0_5_0.String()}

// offeredLater are the versions in which the cases for later hosts can be played.
var offeredLater = []string{"1.0.0", "0.10.0", "0.9.0"}
