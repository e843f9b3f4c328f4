package ahp

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a protocol version.
type Version struct {
	// Major, Minor and Patch are the three integers of a SemVer version.
	Major, Minor, Patch int
}

// The versions in which methods and actions were introduced. The host speaks every
// patch version of 0.5 and 0.6 (canvas/PROTOCOL.md section 1).
var (
	V0_5_0 = Version{0, 5, 0}
	V0_5_1 = Version{0, 5, 1}
	V0_6_0 = Version{0, 6, 0}
)

// SupportedVersions are the SemVer ranges that the host reports if it supports no
// offered version, newest first.
var SupportedVersions = []string{"^0.6.0", "^0.5.0"}

// String returns v as "x.y.z".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Compare returns -1, 0 or 1 if v is older than w, equal or newer.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// ParseVersion parses "x.y.z". Leading zeros, signs and pre-release suffixes are
// invalid.
func ParseVersion(s string) (Version, bool) {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return Version{}, false
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 31)
		if err != nil || strconv.FormatUint(v, 10) != p {
			return Version{}, false
		}
		n[i] = int(v)
	}
	return Version{n[0], n[1], n[2]}, true
}

// Negotiate returns the highest offered version that this host speaks, both as the
// offered string and parsed. Invalid strings are skipped. ok is false if none is
// left.
func Negotiate(offered []string) (exact string, best Version, ok bool) {
	for _, s := range offered {
		v, ok := ParseVersion(s)
		if !ok || v.Major != 0 || (v.Minor != 5 && v.Minor != 6) {
			continue
		}
		if exact == "" || v.Compare(best) > 0 {
			best, exact = v, s
		}
	}
	return exact, best, exact != ""
}
