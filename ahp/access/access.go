package access

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The roles of tokens (ahp/PROTOCOL.md section 14.3), from the least to the most rights.
const (
	// Read sees sessions and canvases and changes nothing.
	Read = "read"
	// Look is Read for a program that makes pictures of canvases: it is no person.
	Look = "look"
	// View also uses canvases and can ask for a close: what a person needs.
	View = "view"
	// Client also declares canvases, and creates sessions: what an editor needs.
	Client = "client"
	// Agent may do everything.
	Agent = "agent"
)

// Permission says whether a role permits a message.
type Permission uint8

const (
	// Denied refuses the message.
	Denied Permission = iota
	// Own permits it in sessions that the same token created.
	Own
	// Greeting permits a canvas/message that says hello or bye, and no other one.
	Greeting
	// Granted permits the message.
	Granted
)

// words are the permissions as the matrix spells them.
var words = map[string]Permission{"no": Denied, "own": Own, "greeting": Greeting, "yes": Granted}

//go:embed matrix.json
var matrix []byte

// Matrix is the content of matrix.json.
type Matrix struct {
	// Roles are the roles, in the order of their rights.
	Roles []string `json:"roles"`
	// Rules has one rule for each method and each action that clients can send.
	Rules []Rule `json:"rules"`
}

// Rule says which roles may send a message. Each role is "yes", "no", "own" (in sessions
// that the token created) or "greeting" (hello and bye).
type Rule struct {
	// Name is the method or the action type.
	Name string `json:"name"`
	// Kind is "method" or "action".
	Kind string `json:"kind"`
	// Read, Look, View, Client and Agent are the permissions of the roles.
	Read   string `json:"read"`
	Look   string `json:"look"`
	View   string `json:"view"`
	Client string `json:"client"`
	Agent  string `json:"agent"`
}

// Of returns the permission of a role, as the matrix spells it.
func (r *Rule) Of(role string) string {
	return map[string]string{Read: r.Read, Look: r.Look, View: r.View, Client: r.Client, Agent: r.Agent}[role]
}

// Data returns the published matrix.json.
func Data() []byte { return slices.Clone(matrix) }

// table is the decoded matrix.
var table = func() Matrix {
	var m Matrix
	if err := ahp.Unmarshal(matrix, &m); err != nil {
		panic(fmt.Sprintf("access: matrix.json: %v", err))
	}
	return m
}()

// Roles returns the roles, in the order of their rights.
func Roles() []string { return slices.Clone(table.Roles) }

// Rules returns the rules of the matrix.
func Rules() []Rule { return slices.Clone(table.Rules) }

// Rights are the permissions of one role. A nil Rights permits everything: a program
// that uses channels/server alone has no roles.
type Rights struct {
	role    string
	granted bool // what the matrix does not name
	names   map[string]Permission
}

// byRole has the rights of each role.
var byRole = func() map[string]*Rights {
	all := map[string]*Rights{}
	for _, role := range table.Roles {
		r := &Rights{role: role, granted: role == Agent, names: map[string]Permission{}}
		for _, rule := range table.Rules {
			p, ok := words[rule.Of(role)]
			if !ok {
				panic(fmt.Sprintf("access: matrix.json: %s: %s is %q", rule.Name, role, rule.Of(role)))
			}
			r.names[rule.Name] = p
		}
		all[role] = r
	}
	return all
}()

// For returns the rights of a role. An unknown role has none.
func For(role string) *Rights {
	if r := byRole[role]; r != nil {
		return r
	}
	return &Rights{role: role}
}

// Of returns the permission for a method or an action type.
func (r *Rights) Of(name string) Permission {
	if r == nil {
		return Granted
	}
	if p, ok := r.names[name]; ok {
		return p
	}
	if r.granted {
		return Granted
	}
	return Denied
}

// Check returns a *Denial if the role does not permit a method or an action type. Own and
// Greeting pass: the handler of the message checks the condition, and returns
// [Rights.Deny] if it is not met.
func (r *Rights) Check(name string) error {
	if r.Of(name) == Denied {
		return r.Deny(name)
	}
	return nil
}

// Deny returns the refusal of a method or an action type.
func (r *Rights) Deny(name string) *Denial {
	d := &Denial{Name: name}
	if r != nil {
		d.Role = r.role
	}
	mine := r.Of(name)
	for _, role := range table.Roles {
		if byRole[role].Of(name) > mine {
			d.Needs = append(d.Needs, role)
		}
	}
	d.owned = mine == Own
	return d
}

// CodeRoleRequired is the code of a refusal for the role of the token.
const CodeRoleRequired = "role_required"

// Denial is a refusal: the role of the token does not permit a message.
type Denial struct {
	// Name is the method or the action type.
	Name string
	// Role is the role of the token.
	Role string
	// Needs are the roles that permit the message.
	Needs []string

	owned bool // the role would permit it in another session
}

// denialData is the data of the JSON-RPC error.
type denialData struct {
	Code  string   `json:"code"`
	Role  string   `json:"role"`
	Needs []string `json:"needs"`
}

// Error says what token is needed, and ends with the code in parentheses.
func (d *Denial) Error() string { return d.text() + " (" + CodeRoleRequired + ")" }

func (d *Denial) text() string {
	where := ""
	if d.owned {
		where = " in a session that another token created"
	}
	if d.Name == "canvas/message" {
		where = " other than hello and bye"
	}
	return fmt.Sprintf("%s%s needs a token with the role %s; this token has the role %q", d.Name, where, strings.Join(quoted(d.Needs), " or "), d.Role)
}

func quoted(roles []string) (out []string) {
	for _, r := range roles {
		out = append(out, fmt.Sprintf("%q", r))
	}
	return out
}

// Unwrap returns the denial as the *[ahp.Error] that answers a request.
func (d *Denial) Unwrap() error {
	return ahp.Errorf(ahp.CodePermissionDenied, "%s", d.text()).With(denialData{CodeRoleRequired, d.Role, append([]string{}, d.Needs...)})
}
