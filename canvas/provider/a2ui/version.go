package a2ui

import (
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The versions that are accepted. They are one format.
const (
	V09  = "v0.9"
	V091 = "v0.9.1"
)

// BasicCatalogID is the id of the basic catalog.
const BasicCatalogID = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json"

// basicSpellings are other ids that documents use for the basic catalog.
var basicSpellings = []string{
	"https://a2ui.org/specification/v0_9/basic_catalog.json",
	"https://a2ui.org/catalogs/v1/basic.json",
}

// BasicCatalogIDs returns the ids by which agents name the basic catalog, BasicCatalogID
// first.
func BasicCatalogIDs() []string { return append([]string{BasicCatalogID}, basicSpellings...) }

// The MIME types of A2UI parts. Both are accepted with both versions.
const (
	MIMEv09  = "application/json+a2ui" // what v0.9 calls it
	MIMEv091 = "application/a2ui+json" // what v0.9.1 calls it
)

// The URIs of A2UI's extension of A2A, the newest first.
const (
	ExtensionV091 = "https://a2ui.org/a2a-extension/a2ui/v0.9.1"
	ExtensionV09  = "https://a2ui.org/a2a-extension/a2ui/v0.9"
)

// The names of members of a message's metadata.
const (
	MetaCapabilities = "a2uiClientCapabilities"
	MetaDataModel    = "a2uiClientDataModel"
)

// Versions returns the accepted versions.
func Versions() []string { return []string{V09, V091} }

// Supported reports whether a version is accepted.
func Supported(version string) bool { return version == V09 || version == V091 }

// MIMEType returns the MIME type that a version prescribes.
func MIMEType(version string) string {
	if version == V091 {
		return MIMEv091
	}
	return MIMEv09
}

// IsMIMEType reports whether a MIME type marks an A2UI part.
func IsMIMEType(t string) bool { return t == MIMEv09 || t == MIMEv091 }

// Capabilities returns the a2uiClientCapabilities for a version: what is drawn here. v0.9.1
// keeps the member name "v0.9".
func Capabilities(catalogs ...*Catalog) ahp.Value {
	var ids []string
	for _, c := range catalogs {
		ids = append(ids, c.ids...)
	}
	if len(catalogs) == 0 {
		ids = BasicCatalogIDs()
	}
	type supported struct {
		IDs []string `json:"supportedCatalogIds"`
	}
	return ahp.MustMarshal(map[string]supported{V09: {slices.Clone(ids)}})
}
