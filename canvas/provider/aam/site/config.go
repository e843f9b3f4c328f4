package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
)

// Config is what a site publishes. [ParseConfig] reads one from a file; a program can also
// fill it in.
type Config struct {
	// Listen is the address of the site's listener. This package does not use it.
	Listen string `json:"listen,omitzero"`
	// Origin is where agents and people reach the site, as in https://board.example.
	Origin string `json:"origin"`
	// Site is what the manifest says about the site.
	Site Info `json:"site"`
	// Vendors are the vendors whose agents can be let in; none means any.
	Vendors []string `json:"vendors,omitzero"`
	// Actions are what agents can do.
	Actions []Action `json:"actions"`
	// Identity lists the issuers whose AAM ID credentials are accepted.
	Identity []Identity `json:"identity,omitzero"`
	// Settle says how signed payments are collected; it is needed if an action has a price.
	Settle *Settle `json:"settle,omitzero"`
}

// Info names a site.
type Info struct {
	// Name is for people.
	Name string `json:"name"`
	// Domain is the host name that credentials are made out to.
	Domain string `json:"domain"`
	// Description tells agents what the site is for.
	Description string `json:"description,omitzero"`
}

// Action is one published action.
type Action struct {
	// ID names the action in the manifest and in its URL.
	ID string `json:"id"`
	// Extension, Canvas, Instance and Action name the canvas action that an [Executor] of
	// a canvas host runs. This package does not use them.
	Extension string `json:"extension,omitzero"`
	// Canvas is the declared canvas.
	Canvas string `json:"canvas,omitzero"`
	// Instance is the instance to run the action on.
	Instance string `json:"instance,omitzero"`
	// Action is the canvas's action.
	Action string `json:"action,omitzero"`
	// Public lets agents without a credential run it. It must then be free.
	Public bool `json:"public,omitzero"`
	// Description replaces that of the executor.
	Description string `json:"description,omitzero"`
	// Pricing is the price; the zero value is free.
	Pricing aam.Pricing `json:"pricing,omitzero"`
	// Input is the JSON Schema of the parameters, in place of the executor's.
	Input ahp.Value `json:"input,omitzero"`
}

// Identity is an issuer whose AAM ID credentials a site accepts.
type Identity struct {
	// Issuer is the credential's iss.
	Issuer string `json:"issuer"`
	// JWKSURL is where the issuer's keys are.
	JWKSURL string `json:"jwks_url"`
	// ConnectURLPattern is where a person gets a credential.
	ConnectURLPattern string `json:"connect_url_pattern,omitzero"`
	// Scopes maps scopes of the issuer to actions.
	Scopes map[string]string `json:"scopes"`
	// Subjects are the SHA-256 hashes, in hex, of the addresses that are let in.
	Subjects []string `json:"subjects,omitzero"`
	// Anyone lets every person in that the issuer knows.
	Anyone bool `json:"anyone,omitzero"`
	// PerDay is how often each person can call in a day; 0 is 5.
	PerDay int `json:"per_day,omitzero"`
}

// Settle says how signed payments are collected: at once by a facilitator, or later in
// batches.
type Settle struct {
	// Facilitator is the base URL of an x402 facilitator; "" settles later.
	Facilitator string `json:"facilitator,omitzero"`
	// Later is how long a batch can take to come, as in "5m". An authorization must
	// outlive it, or it could not be collected.
	Later Duration `json:"later,omitzero"`
	// Valid is how long an authorization must be good for when it is signed: the
	// challenge's maxTimeoutSeconds. The default is 10 minutes.
	Valid Duration `json:"valid,omitzero"`
	// Nodes has the JSON-RPC address of a node for each network, to check signatures of
	// smart accounts (ERC-1271). Without one they are refused, unless a facilitator
	// collects each payment before its action runs.
	Nodes map[string]string `json:"nodes,omitzero"`
}

// Duration is a time.Duration that is written as in "5m".
type Duration time.Duration

// MarshalText writes d as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// DefaultValid is how long an authorization is good for if [Settle] does not say it.
const DefaultValid = 10 * time.Minute

// UnmarshalJSON reads the word "later" too, which names no batch and is refused with the
// reason when the site starts.
func (s *Settle) UnmarshalJSON(b []byte) error {
	if string(b) == `"later"` {
		*s = Settle{}
		return nil
	}
	type plain Settle
	return strictly(b, (*plain)(s))
}

// later reports whether payments wait for a batch.
func (s *Settle) later() bool { return s.Facilitator == "" || s.Later > 0 }

// valid returns how long an authorization must be good for.
func (s *Settle) valid() time.Duration {
	if s.Valid == 0 {
		return DefaultValid
	}
	return time.Duration(s.Valid)
}

// ParseConfig reads a configuration strictly: a member that it does not know is an error.
func ParseConfig(b []byte) (Config, error) {
	var c Config
	if err := strictly(b, &c); err != nil {
		return c, err
	}
	return c, c.check()
}

// strictly decodes JSON without unknown members, duplicates and case variants.
func strictly[T any](b []byte, v *T) error {
	if err := ahp.Unmarshal(b, v); err != nil {
		return err
	}
	var loose T
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&loose); err != nil {
		return err
	}
	if !ahp.Equal(ahp.MustMarshal(*v), ahp.MustMarshal(loose)) {
		return fmt.Errorf("a member's name has the wrong case")
	}
	return nil
}

var (
	actionID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	vendorID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:+-]{0,127}$`) // no @: the audit has vendors, and no e-mail addresses
	subject  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	domain   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
)

// reservedExtension is that of AAM's own canvases: an agent that could run them would
// decide in the owner's place.
const reservedExtension = "aam"

const maxActions = 256

// check refuses a configuration with which no site can start.
func (c Config) check() error {
	if err := checkOrigin(c.Origin); err != nil {
		return err
	}
	switch {
	case c.Site.Name == "":
		return fmt.Errorf("/site/name: want the site's name")
	case !domain.MatchString(c.Site.Domain):
		return fmt.Errorf("/site/domain %q: want a host name", c.Site.Domain)
	case len(c.Actions) == 0 || len(c.Actions) > maxActions:
		return fmt.Errorf("/actions: want 1 to %d, have %d", maxActions, len(c.Actions))
	}
	for n, v := range c.Vendors {
		if !vendorID.MatchString(v) {
			return fmt.Errorf("/vendors/%d %q: want a name as in assistant.example", n, v)
		}
	}
	seen := map[string]bool{}
	for n, a := range c.Actions {
		if err := c.checkAction(a); err != nil {
			return fmt.Errorf("/actions/%d%w", n, err)
		}
		if seen[a.ID] {
			return fmt.Errorf("/actions/%d/id %q: another action has this id", n, a.ID)
		}
		seen[a.ID] = true
	}
	for n, i := range c.Identity {
		if err := i.check(seen); err != nil {
			return fmt.Errorf("/identity/%d%w", n, err)
		}
	}
	return nil
}

func (c Config) checkAction(a Action) error {
	switch {
	case !actionID.MatchString(a.ID):
		return fmt.Errorf("/id %q: want letters, digits, dots, underscores and hyphens", a.ID)
	case a.Extension == reservedExtension:
		return fmt.Errorf("/extension %q: the canvases of AAM cannot be published", a.Extension)
	case a.Public && !a.Pricing.Free():
		return fmt.Errorf("/public: an action with a price cannot be public")
	case a.Pricing.Free():
		return nil
	}
	if err := checkPricing(a.Pricing); err != nil {
		return fmt.Errorf("/pricing%w", err)
	}
	if a.Pricing.Type != aam.X402 {
		return nil
	}
	return c.checkSettle()
}

// checkSettle refuses to keep authorizations that end before they are collected.
func (c Config) checkSettle() error {
	switch s := c.Settle; {
	case s == nil:
		return fmt.Errorf("/pricing: say how payments are collected in /settle")
	case s.Facilitator != "" && !isHTTPS(s.Facilitator) && !isLoopback(s.Facilitator):
		return fmt.Errorf("/pricing: /settle/facilitator %q: want an https URL", s.Facilitator)
	case s.later() && s.Later <= 0:
		return fmt.Errorf("/pricing: /settle: say when payments are collected, as in {\"later\": \"5m\"}: an authorization must outlive that")
	case s.later() && s.valid() <= time.Duration(s.Later):
		return fmt.Errorf("/pricing: /settle: an authorization is good for %s and would end before it is collected after %s; raise \"valid\"", s.valid(), time.Duration(s.Later))
	}
	return nil
}

func (i Identity) check(actions map[string]bool) error {
	switch {
	case !isHTTPS(i.Issuer) && !isLoopback(i.Issuer):
		return fmt.Errorf("/issuer %q: want an https URL", i.Issuer)
	case !isHTTPS(i.JWKSURL) && !isLoopback(i.JWKSURL):
		return fmt.Errorf("/jwks_url %q: want an https URL", i.JWKSURL)
	case i.Anyone == (len(i.Subjects) > 0):
		return fmt.Errorf(": want subjects, or \"anyone\": true")
	case i.PerDay < 0:
		return fmt.Errorf("/per_day %d: want a positive number", i.PerDay)
	case len(i.Scopes) == 0:
		return fmt.Errorf("/scopes: want the action of each scope")
	}
	for scope, action := range i.Scopes {
		if !actions[action] {
			return fmt.Errorf("/scopes/%s %q: there is no such action", scope, action)
		}
	}
	for n, s := range i.Subjects {
		if !subject.MatchString(s) {
			return fmt.Errorf("/subjects/%d: want the SHA-256 of an address in hex", n)
		}
	}
	return nil
}

// checkOrigin wants https, except on this machine.
func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil || strings.HasSuffix(origin, "/") {
		return fmt.Errorf("/origin %q: want an origin, as in https://board.example", origin)
	}
	if !isHTTPS(origin) && !isLoopback(origin) {
		return fmt.Errorf("/origin %q: want https, except on this machine", origin)
	}
	return nil
}

func isHTTPS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil
}

// isLoopback reports whether an http URL is of this machine.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// action returns the configured action of an id.
func (c Config) action(id string) (Action, bool) {
	n := slices.IndexFunc(c.Actions, func(a Action) bool { return a.ID == id })
	if n < 0 {
		return Action{}, false
	}
	return c.Actions[n], true
}
