package relay

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// tokenFile is a token file that a test can change.
type tokenFile struct {
	t    *testing.T
	name string
	TokenFile
}

func newTokenFile(t *testing.T) *tokenFile {
	return &tokenFile{t: t, name: filepath.Join(t.TempDir(), "tokens.json")}
}

func (f *tokenFile) mint(row TokenEntry) string {
	token, row := Mint(row)
	f.Tokens = append(f.Tokens, row)
	return token
}

// save replaces the file atomically.
func (f *tokenFile) save() {
	f.t.Helper()
	f.write(f.Encode())
}

func (f *tokenFile) write(data []byte) {
	f.t.Helper()
	if err := os.WriteFile(f.name+".new", data, 0o600); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.name+".new", f.name); err != nil {
		f.t.Fatal(err)
	}
}

func TestFileAuthorizer(t *testing.T) {
	f := newTokenFile(t)
	host := f.mint(TokenEntry{Audience: ForHost, Subject: "laptop", Hosts: []string{"laptop", "desktop"}})
	ann := f.mint(TokenEntry{Audience: ForClient, Subject: "ann", Hosts: []string{"laptop"}, ClientID: "ann-1", Lanes: 3})
	all := f.mint(TokenEntry{Audience: ForClient, Subject: "root", Hosts: []string{AnyHost}})
	old := f.mint(TokenEntry{Audience: ForClient, Subject: "old", Hosts: []string{AnyHost}, Expires: time.Now().Add(-time.Second)})
	f.save()
	if data, _ := os.ReadFile(f.name); strings.Contains(string(data), host) || strings.Contains(string(data), ann) {
		t.Error("the file holds a token")
	}
	a, err := NewFileAuthorizer(f.name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		audience    Audience
		token, host string
		subject     string
		err         error
	}{
		{ForHost, host, "laptop", "laptop", nil},
		{ForHost, host, "desktop", "laptop", nil},
		{ForHost, host, "other", "", ErrForbidden},
		{ForClient, host, "laptop", "", ErrForbidden},
		{ForClient, ann, "laptop", "ann", nil},
		{ForClient, ann, "desktop", "", ErrForbidden},
		{ForHost, ann, "laptop", "", ErrForbidden},
		{ForClient, all, "whatever", "root", nil},
		{ForClient, old, "laptop", "", ErrUnknownToken},
		{ForClient, "", "laptop", "", ErrUnknownToken},
		{ForClient, hash(ann), "laptop", "", ErrUnknownToken},
	} {
		g, err := a.Authorize(t.Context(), c.audience, c.token, c.host)
		if !errors.Is(err, c.err) || g.Subject != c.subject {
			t.Errorf("%s endpoint of %s, %s: %+v, %v, want %v", c.audience, c.host, c.subject, g, err, c.err)
		}
	}
	if g, _ := a.Authorize(t.Context(), ForClient, ann, "laptop"); g.ClientID != "ann-1" || g.Lanes != 3 {
		t.Errorf("%+v", g)
	}
}

// A token expires by the wall clock, even if the clock jumped because the
// machine was suspended or its clock was set.
func TestATokenExpiresByTheWallClock(t *testing.T) {
	f := newTokenFile(t)
	soon := f.mint(TokenEntry{Audience: ForClient, Subject: "ann", Hosts: []string{AnyHost}, Expires: time.Now().Add(time.Hour)})
	later := f.mint(TokenEntry{Audience: ForClient, Subject: "bob", Hosts: []string{AnyHost}, Expires: time.Now().Add(3 * time.Hour)})
	f.save()
	a, err := NewFileAuthorizer(f.name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.replace(nil)
	var ended []bool
	for _, token := range []string{soon, later} {
		grant, err := a.Authorize(t.Context(), ForClient, token, "laptop")
		if err != nil {
			t.Fatal(err)
		}
		a.expire(time.Now().Add(2 * time.Hour))
		ended = append(ended, grant.Valid.Err() != nil)
	}
	if !ended[0] || ended[1] {
		t.Errorf("two hours later the tokens for one and for three have ended: %v", ended)
	}
}

func TestParseTokensRefuses(t *testing.T) {
	_, good := Mint(TokenEntry{Audience: ForHost, Subject: "s", Hosts: []string{"h"}})
	for want, change := range map[string]func(*TokenEntry){
		"64 lower-case":        func(r *TokenEntry) { r.SHA256 = strings.ToUpper(r.SHA256) },
		"hash of the empty":    func(r *TokenEntry) { r.SHA256 = hash("") },
		"audience":             func(r *TokenEntry) { r.Audience = "both" },
		"subject":              func(r *TokenEntry) { r.Subject = "" },
		"hosts is []":          func(r *TokenEntry) { r.Hosts = []string{} },
		"must have host names": func(r *TokenEntry) { r.Hosts = []string{"../x"} },
		"lanes is -1":          func(r *TokenEntry) { r.Lanes = -1 },
	} {
		row := good
		change(&row)
		if _, err := ParseTokens(TokenFile{Tokens: []TokenEntry{row}}.Encode()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := ParseTokens(TokenFile{Tokens: []TokenEntry{good, good}}.Encode()); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
}

// A change of the file takes effect at the next poll, for new and for existing
// connections. A file that cannot be parsed changes nothing.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := inMemory()
		f := newTokenFile(t)
		host := f.mint(TokenEntry{Audience: ForHost, Subject: "laptop", Hosts: []string{"laptop"}})
		ann := f.mint(TokenEntry{Audience: ForClient, Subject: "ann", Hosts: []string{"laptop"}})
		bob := f.mint(TokenEntry{Audience: ForClient, Subject: "bob", Hosts: []string{"laptop"}, Expires: time.Now().Add(time.Minute)})
		f.save()
		var lines ahptest.Log
		a, err := NewFileAuthorizer(f.name, lines.Logger())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go func() { defer close(watched); a.Watch(ctx) }()
		defer func() { cancel(); <-watched }()
		startEdge(t, n, EdgeOptions{Authorizer: a})
		u := startUplink(t, n, UplinkOptions{Token: host})
		u.await(t, Registered)
		annC, bobC := dialHost(t, n, "laptop", ann, ws.Options{}), dialHost(t, n, "laptop", bob, ws.Options{})
		wantEcho(t, annC, "ann")
		wantEcho(t, bobC, "bob")

		f.write([]byte(`{"tokens":`))
		time.Sleep(3 * ReloadInterval)
		wantEcho(t, annC, "a broken file changes nothing")
		if n := strings.Count(lines.String(), "stay valid"); n != 1 {
			t.Errorf("logged %d times, want once", n)
		}
		cat := f.mint(TokenEntry{Audience: ForClient, Subject: "cat", Hosts: []string{"laptop"}})
		f.save()
		time.Sleep(2 * ReloadInterval)
		wantEcho(t, dialHost(t, n, "laptop", cat, ws.Options{}), "cat is known")
		wantEcho(t, annC, "ann stays")
		f.Tokens = append(f.Tokens[:1], f.Tokens[2:]...) // without ann
		f.save()
		wantClose(t, annC, CodeWithdrawn, withdrawn.Reason)
		if _, err := tryDial(t, n, "ahp/laptop", ws.DialOptions{Token: ann}); err == nil {
			t.Error("ann comes in still")
		}
		wantEcho(t, bobC, "bob stays")
		began := time.Now()
		wantClose(t, bobC, CodeWithdrawn, withdrawn.Reason)
		if d := time.Since(began); d > time.Minute {
			t.Errorf("bob's token ran out after %s", d)
		}
		f.Tokens = f.Tokens[1:] // without the host
		f.save()
		if p := u.await(t, Lost); ws.CodeOf(p.Err) != CodeWithdrawn {
			t.Errorf("the uplink reports %v", p.Err)
		}
		wantNoSecrets(t, lines.String(), host, ann, bob, cat)
	})
}
