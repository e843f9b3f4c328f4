package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// target says which host is meant, and how it is entered.
type target struct {
	host      string // --host
	tokenFile string // --token-file
	session   string // --session; "" is the host's default
}

// door is the MCP endpoint of a host, with the token that opens it.
type door struct {
	url, token string
	view       string // the view token; "" where only the host itself knows it
	link       string // for the person; "" where only the host itself knows it
	content    string // how pages of extensions and web apps come; "" where it has none, or is elsewhere
}

// resolve finds the host that a command drives.
func (a *app) resolve() (door, error) {
	token, err := a.token()
	if err != nil {
		return door{}, err
	}
	hosts, err := running(runtimeFolder(a.getenv))
	if err != nil {
		return door{}, fmt.Errorf("cannot look for running hosts: %w", err)
	}
	if a.to.host == "" {
		if len(hosts) == 0 {
			return door{}, failf(codeNoHost, "no host is running")
		}
		return doorOf(hosts[0], token), nil
	}
	address, err := mcpURL(a.to.host)
	if err != nil {
		return door{}, err
	}
	for _, e := range hosts {
		if sameOrigin(e.MCP, address) {
			return doorOf(e, token), nil
		}
	}
	if token == "" {
		return door{}, failf(mcp.CodeTokenRefused, "no token for %s, which is no running host of this user", a.to.host)
	}
	return door{url: address, token: token}, nil
}

func doorOf(e endpointFile, token string) door {
	if token == "" {
		token = e.AgentToken
	}
	return door{url: e.MCP, token: token, view: e.ViewToken, link: e.Link, content: e.Content}
}

// token is what the person gave, or "".
func (a *app) token() (string, error) {
	if a.to.tokenFile == "" {
		return a.getenv("AHP_CANVAS_TOKEN"), nil
	}
	data, err := os.ReadFile(a.to.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", &usage{text: "--token-file: the file must hold one token and nothing else"}
	}
	return token, nil
}

// mcpURL makes the address of a page or of a host its agent's door.
func mcpURL(host string) (string, error) {
	u, err := url.Parse(host)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", &usage{text: "--host: give the host's URL, as in http://localhost:8080"}
	}
	return u.Scheme + "://" + u.Host + "/mcp", nil
}

// sameOrigin compares two URLs by scheme and authority; the names of loopback
// are one.
func sameOrigin(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Scheme == ub.Scheme && ua.Port() == ub.Port() &&
		loopbackName(ua.Hostname()) == loopbackName(ub.Hostname())
}

func loopbackName(host string) string {
	if host == "127.0.0.1" {
		return "localhost"
	}
	return strings.ToLower(host)
}
