package ahp

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Version is a protocol version: three non-negative integers.
type Version struct{ Major, Minor, Patch int }

// The versions whose action tables this module knows. Any patch of the two
// minors is spoken (canvas.md section 1).
var (
	V0_5_0 = Version{0, 5, 0}
	V0_5_1 = Version{0, 5, 1}
	V0_6_0 = Version{0, 6, 0}
)

// SupportedVersions is what a refused initialize is told, as SemVer ranges,
// newest first.
var SupportedVersions = []string{"^0.6.0", "^0.5.0"}

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Compare orders versions.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// ParseVersion reads "x.y.z"; leading zeros, signs and pre-releases are refused.
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

// Negotiate picks the highest offered version that this host speaks and
// returns it as it was offered. Entries that are no versions are skipped.
func Negotiate(offered []string) (string, Version, bool) {
	var best Version
	var exact string
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
