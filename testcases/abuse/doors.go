package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// strangers opens 1,500 connections without a token from another address, half of which
// announce a body that never comes, while 25 people open the page.
var strangers = attack{name: "strangers", visit: people, run: func(ctx context.Context, t *target, _ scale, begun func()) error {
	page, err := t.page()
	if err != nil {
		return err
	}
	var opened atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		repeat(ctx, 1500, func(ctx context.Context, n int) error { return stay(ctx, page.Host, n%2 == 1, &opened) })
	})
	for opened.Load() < 1500 && ctx.Err() == nil {
		pause(ctx)
	}
	begun()
	wg.Wait()
	return nil
}}

// dialElsewhere dials a host on this machine from another address than people do.
func dialElsewhere(ctx context.Context, network, host string) (net.Conn, error) {
	d := net.Dialer{}
	if ip := net.ParseIP("127.0.0.2"); strings.HasPrefix(host, "localhost:") || strings.HasPrefix(host, "127.") {
		d.LocalAddr = &net.TCPAddr{IP: ip}
		host = "127.0.0.1" + host[strings.LastIndexByte(host, ':'):]
	}
	return d.DialContext(ctx, network, host)
}

// stay opens a connection and holds it until the host closes it.
func stay(ctx context.Context, host string, stalls bool, opened *atomic.Int64) error {
	conn, err := dialElsewhere(ctx, "tcp", host)
	opened.Add(1)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if stalls {
		fmt.Fprintf(conn, "POST /absent HTTP/1.1\r\nHost: %s\r\nContent-Length: 1000000\r\n\r\n", host)
	}
	_, err = io.Copy(io.Discard, conn)
	pause(ctx)
	return err
}

// sessions begins 300 MCP sessions and abandons them, and then another agent comes.
var sessions = attack{name: "sessions", visit: agents, run: func(ctx context.Context, t *target, _ scale, begun func()) error {
	page, err := t.page()
	if err != nil {
		return err
	}
	for range 300 {
		if _, err := t.enter(ctx, page); err != nil && ctx.Err() == nil {
			return err
		}
	}
	begun()
	<-ctx.Done()
	return nil
}}

// agents are five agents that come.
func agents(ctx context.Context, t *target) error {
	page, err := t.page()
	if err != nil {
		return err
	}
	for range 5 {
		status, err := t.enter(ctx, page)
		t.met(ctx, "agents", cmp.Or(err, unlessOK(status)))
	}
	return nil
}

// people are 25 people who open the page.
func people(ctx context.Context, t *target) error {
	page, err := t.page()
	if err != nil {
		return err
	}
	for range 25 {
		t.openPage(ctx, page)
	}
	return nil
}

// polls waits for events in 1,200 calls of an agent at another address, while people open
// the page: clients of one address compete for it.
var polls = attack{name: "polls", visit: people, run: func(ctx context.Context, t *target, _ scale, begun func()) error {
	page, err := t.page()
	if err != nil {
		return err
	}
	var asked atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		repeat(ctx, 1200, func(ctx context.Context, _ int) error {
			asked.Add(1)
			_, err := t.mcp(ctx, &http.Transport{DisableKeepAlives: true, DialContext: dialElsewhere}, page, "2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait_for_canvas_events","arguments":{"timeout":50},`+
				`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"abuse","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
			pause(ctx)
			return err
		})
	})
	for asked.Load() < 1200 && ctx.Err() == nil {
		pause(ctx)
	}
	begun()
	wg.Wait()
	return nil
}}

// page returns the address of the host's page.
func (t *target) page() (*url.URL, error) {
	u, err := url.Parse(t.url)
	if err != nil {
		return nil, err
	}
	u.Scheme, u.Path, u.RawQuery = "http"+strings.TrimPrefix(u.Scheme, "ws"), "/", ""
	return u, nil
}

// openPage loads the page over a new connection.
func (t *target) openPage(ctx context.Context, page *url.URL) {
	patience, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(patience, http.MethodGet, page.String(), nil)
	if err != nil {
		return
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		err = cmp.Or(err, unlessOK(resp.StatusCode))
	}
	t.met(ctx, "people", err)
}

// enter begins an MCP session and abandons it.
func (t *target) enter(ctx context.Context, page *url.URL) (status int, err error) {
	return t.mcp(ctx, &http.Transport{DisableKeepAlives: true}, page, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"abuse","version":"1"}}}`)
}

// mcp sends a request to the agent's endpoint over a new connection.
func (t *target) mcp(ctx context.Context, transport *http.Transport, page *url.URL, version, body string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, page.JoinPath("mcp").String(), strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+t.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if version != "" {
		req.Header.Set("Mcp-Protocol-Version", version)
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", "wait_for_canvas_events")
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func unlessOK(status int) error {
	if status == http.StatusOK {
		return nil
	}
	return fmt.Errorf("status %d", status)
}

// met records whether someone who behaves got in, or why not. From the end of the attack it
// records no failure: a socket notices the deadline of ctx before ctx does.
func (t *target) met(ctx context.Context, who string, err error) {
	if end, ok := ctx.Deadline(); err != nil && (ctx.Err() != nil || ok && !time.Now().Before(end)) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.who = who
	t.asked++
	if err == nil {
		t.entered++
	} else {
		t.refused = err
	}
}

// shutOut describes who did not get in; "" if everyone did.
func (t *target) shutOut() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.entered == t.asked {
		return ""
	}
	return fmt.Sprintf("%d of %d %s got in: %v", t.entered, t.asked, t.who, t.refused)
}
