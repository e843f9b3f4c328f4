package site_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
)

const neighbors = "../../../../testcases/neighbors"

// node is an agent that has none of our code.
type node struct {
	t   *testing.T
	in  func(line string)
	out *bufio.Reader
}

func startNode(t *testing.T) *node {
	t.Helper()
	if testing.Short() {
		t.Skip("proven in the run without -short")
	}
	if _, err := os.Stat(neighbors + "/node_modules/viem"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("run 'npm ci' in testcases/neighbors")
		}
		t.Skip("NOT PROVEN: run 'npm ci' in testcases/neighbors")
	}
	cmd := exec.Command("node", "client.mjs")
	cmd.Dir, cmd.Stderr = neighbors, os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &node{t, func(line string) {
		if _, err := fmt.Fprintln(in, line); err != nil {
			t.Fatal(err)
		}
	}, bufio.NewReader(out)}
}

// step returns what the agent says about its next step.
func (n *node) step(name string) string {
	n.t.Helper()
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		n.t.Fatalf("%s: %v", name, err)
	}
	var said struct {
		Step  string
		Value json.RawMessage
	}
	if err := json.Unmarshal(line, &said); err != nil || said.Step != name {
		n.t.Fatalf("%s: %s %v", name, line, err)
	}
	return string(said.Value)
}

// TestNodeAgent: an agent that is fetch, viem and jose uses a site from its manifest to a
// paid call, with a token of its person and with a credential of another issuer.
func TestNodeAgent(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	var issuer string
	if err := json.Unmarshal([]byte(n.step("issuer")), &issuer); err != nil {
		t.Fatal(err)
	}
	e := start(t, func(c *site.Config, o *site.Options) {
		o.Now = nil
		c.Identity = []site.Identity{{Issuer: issuer, JWKSURL: issuer + "/jwks", Scopes: map[string]string{"write:cards": "add_card"}, Anyone: true}}
	})
	n.in(e.url)
	expect := func(step, want string) {
		t.Helper()
		if got := n.step(step); got != want {
			t.Fatalf("%s: %s, want %s", step, got, want)
		}
	}
	expect("manifest", `{"version":"0.1","actions":["add_card","buy","hours"]}`)
	expect("stranger", `{"status":401,"code":"unauthorized"}`)
	number := n.step("number")
	pending := e.site.Pending()
	if len(pending) != 1 || number != `"`+pending[0].ID+`"` || pending[0].Vendor != "node.example" {
		t.Fatalf("number %s, requests %+v", number, pending)
	}
	code, err := e.site.Approve(pending[0].ID, site.Grant{PerDay: 10})
	if err != nil {
		t.Fatal(err)
	}
	n.in(code)
	expect("free", `{"status":200,"data":{"title":"Milk"}}`)
	expect("asked", `{"status":402,"network":"base-sepolia","maxAmountRequired":"50000"}`)
	expect("paid", `{"status":200,"ok":true}`)
	expect("twice", `{"status":402,"error":"invalid_transaction_state"}`)
	expect("credential", `{"status":200,"data":{"title":"Bread"}}`)
	if err := e.site.Revoke(e.site.Tokens()[0].ID); err != nil {
		t.Fatal(err)
	}
	n.in("revoked")
	expect("revoked", `{"status":401,"code":"unauthorized"}`)
	if e.ran.Load() != 3 || len(e.site.Payments()) != 1 {
		t.Errorf("%d runs, %d payments", e.ran.Load(), len(e.site.Payments()))
	}
}
