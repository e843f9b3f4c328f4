package allow

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// MaxOrigins is the largest number of origins of a list.
const MaxOrigins = 32

// List is what one canvas, or the canvases of one extension, may load from.
type List struct {
	// Name is the id of the canvas or of the extension.
	Name string
	// Origins are the allowed origins, sorted: "https://cdn.example",
	// "wss://*.example.org:8443".
	Origins []string
}

// Label returns the beginning of the names of content hosts that have the list: "n" and 16
// hex digits of a hash, or "c" if the list is empty.
func (l List) Label() string {
	if len(l.Origins) == 0 {
		return "c"
	}
	sum := sha256.Sum256([]byte(l.Name + "\n" + strings.Join(l.Origins, "\n")))
	return "n" + hex.EncodeToString(sum[:8])
}

// IsLabel reports whether a text has the form of a [List.Label].
func IsLabel(s string) bool {
	hash, ok := strings.CutPrefix(s, "n")
	return s == "c" || ok && len(hash) == 16 && strings.Trim(hash, "0123456789abcdef") == ""
}

// Sources returns the sources for the directives of a Content-Security-Policy about
// scripts, styles, pictures, fonts and media.
func (l List) Sources() string {
	var all []string
	for _, o := range l.Origins {
		if strings.HasPrefix(o, "https:") {
			all = append(all, o)
		}
	}
	return strings.Join(all, " ")
}

// Connections returns the sources for connect-src, which has the WebSockets too.
func (l List) Connections() string { return strings.Join(l.Origins, " ") }

// Quoted returns the origins as items of a Connection-Allowlist, in which Chromium takes
// https for the origin of a WebSocket too.
func (l List) Quoted() string {
	var all []string
	for _, o := range l.Origins {
		all = append(all, `"`+strings.Replace(o, "wss:", "https:", 1)+`"`)
	}
	return strings.Join(all, " ")
}

// Lists are the lists of a host.
type Lists struct{ byName map[string]List }

// New returns the lists for origins by name. It fails for what is no origin that can be
// allowed.
func New(origins map[string][]string) (Lists, error) {
	all := Lists{map[string]List{}}
	for name, given := range origins {
		if name == "" {
			return Lists{}, fmt.Errorf("the origins %q have no name; want the id of a canvas or an extension", given)
		}
		l := List{Name: name}
		for _, s := range given {
			o, err := parse(s)
			if err != nil {
				return Lists{}, err
			}
			l.Origins = append(l.Origins, o)
		}
		slices.Sort(l.Origins)
		l.Origins = slices.Compact(l.Origins)
		if len(l.Origins) > MaxOrigins {
			return Lists{}, fmt.Errorf("%q has %d origins, at most %d are allowed", name, len(l.Origins), MaxOrigins)
		}
		if len(l.Origins) > 0 {
			all.byName[name] = l
		}
	}
	return all, nil
}

// For returns the list of a canvas: that of its id, or else that of its extension. It is
// empty if there is none.
func (l Lists) For(extensionID, canvasID string) List {
	if own, ok := l.byName[canvasID]; ok {
		return own
	}
	return l.byName[extensionID]
}

// All returns the lists, sorted by name.
func (l Lists) All() (all []List) {
	for _, name := range slices.Sorted(maps.Keys(l.byName)) {
		all = append(all, l.byName[name])
	}
	return all
}

// JSON returns the origins by label, for a page.
func (l Lists) JSON() []byte {
	byLabel := map[string][]string{}
	for _, list := range l.byName {
		byLabel[list.Label()] = list.Origins
	}
	raw, err := json.Marshal(byLabel)
	if err != nil {
		panic(err) // they are strings
	}
	return raw
}

var pattern = regexp.MustCompile(`^(https|wss)://(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[1-9][0-9]{0,4})?$`)

// parse returns an origin in its one spelling.
func parse(s string) (string, error) {
	o := strings.TrimSuffix(strings.ToLower(s), "/")
	o = strings.TrimSuffix(o, ":443")
	if len(o) > 256 || !pattern.MatchString(o) {
		return "", fmt.Errorf("%q cannot be allowed: want an origin that begins with https:// or wss://, as in https://cdn.example, without a path; its name can begin with \"*.\"", s)
	}
	if _, domain, ok := strings.Cut(o, "*."); ok && !strings.Contains(domain, ".") {
		return "", fmt.Errorf("%q cannot be allowed: it is every name below %q; name a domain", s, domain)
	}
	return o, nil
}
