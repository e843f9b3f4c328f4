package issuer_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamid"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/aamid/issuer"
)

// start serves an issuer at which alice is signed in.
func start(t *testing.T) (i *issuer.Issuer, origin string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { i.ServeHTTP(w, r) }))
	t.Cleanup(srv.Close)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i, err = issuer.New(issuer.Options{Origin: srv.URL, Key: key, Sites: map[string]string{"salon-token": "salon"},
		Person: func(r *http.Request) (issuer.Person, bool) {
			return issuer.Person{Email: "alice@example.com", Method: "test"}, r.Header.Get("Cookie") == "alice"
		}})
	if err != nil {
		t.Fatal(err)
	}
	return i, srv.URL
}

func do(t *testing.T, method, address, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(header); n += 2 {
		req.Header.Set(header[n], header[n+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

const query = "?agent=claude-code&scopes=book%3Aappointment,cancel%3Aappointment&site=salon-aurora.vercel.app"

// TestConnect: a person approves on the page, and the credential is good at the site and
// nowhere else.
func TestConnect(t *testing.T) {
	t.Parallel()
	_, origin := start(t)
	status, text := do(t, "GET", origin+issuer.PathConnect+query, "", "Cookie", "alice")
	if status != 200 || !strings.Contains(text, "claude-code") || !strings.Contains(text, "book:appointment") || strings.Contains(text, "eyJ") {
		t.Fatalf("page: %d %s", status, text)
	}
	form, _ := url.ParseQuery(query[1:])
	post := func(header ...string) (int, string) {
		return do(t, "POST", origin+issuer.PathConnect, form.Encode(), append(header, "Content-Type", "application/x-www-form-urlencoded")...)
	}
	if status, text := post("Cookie", "alice", "Origin", "https://evil.example"); status != 403 || strings.Contains(text, "eyJ") {
		t.Errorf("another page: %d", status)
	}
	if status, text := post("Cookie", "alice"); status != 403 || strings.Contains(text, "eyJ") {
		t.Errorf("no origin: %d", status)
	}
	if status, text := post("Origin", origin); status != 401 || strings.Contains(text, "eyJ") {
		t.Errorf("not signed in: %d", status)
	}
	status, text = post("Cookie", "alice", "Origin", origin)
	credential := regexp.MustCompile(`eyJ[\w.-]+`).FindString(text)
	if status != 200 || credential == "" {
		t.Fatalf("approved: %d %s", status, text)
	}
	v := &aamid.Verifier{Issuers: map[string]string{origin: origin + issuer.PathJWKS}, Keys: aamid.NewKeys(http.DefaultClient, nil)}
	want := aamid.Want{Audience: "salon-aurora.vercel.app", Vendor: "claude-code", Scope: "book:appointment", Now: time.Now()}
	if c, err := v.Verify(t.Context(), credential, want); err != nil || c.Subject != "alice@example.com" {
		t.Errorf("the credential: %+v, %v", c, err)
	}
	want.Audience = "other.example"
	if _, err := v.Verify(t.Context(), credential, want); err == nil {
		t.Error("it is good at another site")
	}
	if status, _ := do(t, "GET", origin+issuer.PathConnect+"?agent=%3Cb%3E&site=x", "", "Cookie", "alice"); status != 400 {
		t.Errorf("without scopes: %d", status)
	}
}

// TestReputation: reports of known sites are counted, and answered as AAM's page shows it.
func TestReputation(t *testing.T) {
	t.Parallel()
	_, origin := start(t)
	hash := aamid.Claims{Subject: "alice@example.com"}.UserHash()
	report := fmt.Sprintf(`{"user_hash":%q,"agent_vendor":"claude-code","result":"ok"}`, hash)
	if status, _ := do(t, "POST", origin+issuer.PathTrack, report); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	if status, _ := do(t, "POST", origin+issuer.PathTrack, `{"user_hash":"alice@example.com","agent_vendor":"x","result":"ok"}`, "Authorization", "Bearer salon-token"); status != 400 {
		t.Errorf("an address in place of its hash: %d", status)
	}
	for range 10 {
		if status, text := do(t, "POST", origin+issuer.PathTrack, report, "Authorization", "Bearer salon-token"); status != 200 {
			t.Fatal(status, text)
		}
	}
	_, text := do(t, "GET", origin+issuer.PathReputation+hash, "")
	var got, upstream map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../testdata/audit_row_and_reputation.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Response map[string]any `json:"reputation_response"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	upstream = file.Response
	for name := range upstream {
		if _, has := got[name]; !has {
			t.Errorf("no member %s", name)
		}
	}
	if len(got) != len(upstream) || got["trust_band"] != "established" || got["successful_actions"] != 10.0 || got["sites_used"] != 1.0 {
		t.Errorf("%v", got)
	}
	if _, text := do(t, "GET", origin+issuer.PathReputation+strings.Repeat("0", 64), ""); !strings.Contains(text, `"trust_band":"new"`) {
		t.Error(text)
	}
}
