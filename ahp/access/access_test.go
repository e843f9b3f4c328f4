package access_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/access"
)

// TestReference: the table in ahp/PROTOCOL.md section 14.3 is the matrix.
func TestReference(t *testing.T) {
	doc, err := os.ReadFile("../PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, rule := range access.Rules() {
		var row strings.Builder
		fmt.Fprintf(&row, "| `%s` |", rule.Name)
		for _, role := range access.Roles() {
			row.WriteString(" " + rule.Of(role) + " |")
		}
		if !strings.Contains(string(doc), "\n"+row.String()+"\n") {
			t.Errorf("ahp/PROTOCOL.md section 14.3 has no row %s", row.String())
		}
		rows++
	}
	_, table, _ := strings.Cut(string(doc), "| method or action |")
	table, _, _ = strings.Cut(table, "\n\n")
	if have := strings.Count(table, "\n") - 1; have != rows {
		t.Errorf("the table has %d rows, the matrix %d", have, rows)
	}
}

// TestRights: an unknown role may send nothing, no role restricts a program without roles,
// and each role may do at least what the one before it may.
func TestRights(t *testing.T) {
	if access.For("king").Of("ping") != access.Denied || access.For("").Of("ping") != access.Denied {
		t.Error("an unknown role may send a ping")
	}
	if (*access.Rights)(nil).Of("anything") != access.Granted || access.For(access.Agent).Of("anything") != access.Granted || access.For(access.Client).Of("anything") != access.Denied {
		t.Error("what the matrix does not name")
	}
	roles := access.Roles()
	for _, rule := range access.Rules() {
		for i := 1; i < len(roles); i++ {
			if access.For(roles[i]).Of(rule.Name) < access.For(roles[i-1]).Of(rule.Name) {
				t.Errorf("%s: %s may do less than %s", rule.Name, roles[i], roles[i-1])
			}
		}
	}
}

// TestDenial: a refusal says what token is needed, as text and as data.
func TestDenial(t *testing.T) {
	err := access.For(access.View).Check("createSession")
	var wire *ahp.Error
	if !errors.As(err, &wire) || wire.Code != ahp.CodePermissionDenied || string(wire.Data) != `{"code":"role_required","role":"view","needs":["client","agent"]}` {
		t.Errorf("%v %+v", err, wire)
	}
	if want := `createSession needs a token with the role "client" or "agent"; this token has the role "view" (role_required)`; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if access.For(access.Agent).Check("createSession") != nil {
		t.Error("an agent may not create a session")
	}
}
