package folder

import (
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// These patterns find references without a parser: enough for what people write, but
// not for what a script computes.
var (
	htmlTag     = regexp.MustCompile(`(?is)<(script|link|img|iframe|audio|video|source|track|embed|object|form|input|image|use|a|area)\b((?:"[^"]*"|'[^']*'|[^>"'])*)>`)
	htmlRef     = regexp.MustCompile(`(?is)\b(?:src|href|data|action|poster)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))`)
	linkOnly    = regexp.MustCompile(`(?is)\brel\s*=\s*["']?(canonical|author|license|alternate|next|prev|help)\b`) // loads nothing
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	htmlScript  = regexp.MustCompile(`(?is)(<script\b[^>]*>)(.*?)</script>`)
	htmlStyle   = regexp.MustCompile(`(?is)<style\b[^>]*>(.*?)</style>`)
	importMap   = regexp.MustCompile(`(?is)\btype\s*=\s*["']?importmap\b`)
	cssRef      = regexp.MustCompile(`(?i)(?:\burl\(\s*|@import\s+)(?:"([^"]*)"|'([^']*)'|([^\s)"';]+))`)
	cssComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	jsImport    = regexp.MustCompile(`(?m)(?:^[ \t]*(?:import|export)\b[^;"'()]*?|\bimport\(\s*)(?:"([^"\n]*)"|'([^'\n]*)')`)
	jsRemote    = regexp.MustCompile("\\b(fetch|WebSocket|EventSource|sendBeacon|importScripts)\\(\\s*[\"'`]((?:https?:|wss?:)?//[^\"'`\\s]+)")
	jsComment   = regexp.MustCompile(`(?m)^[ \t]*(?://|\*|/\*).*$`)
	jsAction    = regexp.MustCompile("\\bonAction\\s*\\(\\s*(?:\"([^\"\\n]*)\"|'([^'\\n]*)'|`([^`$\\n]*)`)?")
	jsRenamed   = regexp.MustCompile(`\bonAction\s+as\s`)
)

// lintPage checks a document.
func (l *linter) lintPage(name, text string) {
	text = blank(text, htmlComment)
	for _, at := range htmlScript.FindAllStringSubmatchIndex(text, -1) {
		if importMap.MatchString(text[at[2]:at[3]]) {
			l.imports = true
			continue
		}
		l.scripts(name, text[at[4]:at[5]], lineAt(text, at[4])-1)
	}
	for _, at := range htmlStyle.FindAllStringSubmatchIndex(text, -1) {
		l.styles(name, text[at[2]:at[3]], lineAt(text, at[2])-1)
	}
	for _, at := range htmlTag.FindAllStringSubmatchIndex(blankScripts(text), -1) {
		tag, attrs := strings.ToLower(text[at[2]:at[3]]), text[at[4]:at[5]]
		if tag == "link" && linkOnly.MatchString(attrs) {
			continue
		}
		for _, ref := range htmlRef.FindAllStringSubmatchIndex(attrs, -1) {
			r := reference{name, lineAt(text, at[4]+ref[0]), group(attrs, ref)}
			if tag == "a" || tag == "area" {
				l.link(r)
			} else {
				l.refer(r)
			}
		}
	}
}

func (l *linter) lintStyle(name, text string)  { l.styles(name, text, 0) }
func (l *linter) lintScript(name, text string) { l.scripts(name, text, 0) }

func (l *linter) styles(name, text string, before int) {
	text = blank(text, cssComment)
	for _, at := range cssRef.FindAllStringSubmatchIndex(text, -1) {
		l.refer(reference{name, before + lineAt(text, at[0]), group(text, at)})
	}
}

func (l *linter) scripts(name, text string, before int) {
	text = blank(text, jsComment)
	for _, at := range jsImport.FindAllStringSubmatchIndex(text, -1) {
		l.imported(reference{name, before + lineAt(text, at[1]-1), group(text, at)})
	}
	for _, at := range jsRemote.FindAllStringSubmatchIndex(text, -1) {
		l.add(name, before+lineAt(text, at[0]), SeverityWarning, "Put the data into the folder, or have the agent send it as an action's input.",
			"%s connects to another server, which a canvas cannot do: %s", text[at[2]:at[3]], short(text[at[4]:at[5]]))
	}
	for _, at := range jsAction.FindAllStringSubmatchIndex(text, -1) {
		if at[2]+at[4]+at[6] == -3 {
			l.unclear = l.unclear || !strings.HasSuffix(strings.TrimRight(text[:at[0]], " \t"), "function")
			continue
		}
		h := handler{name, before + lineAt(text, at[0]), group(text, at)}
		l.handled[h.action] = true
		l.handlers = append(l.handlers, h)
	}
	l.unclear = l.unclear || jsRenamed.MatchString(text)
}

// reference is a reference in a file.
type reference struct {
	file string
	line int
	to   string
}

// link checks a link, which a person can follow.
func (l *linter) link(r reference) {
	if remote(r.to) {
		l.add(r.file, r.line, SeverityWarning, "Call offerLink of /.ahp/canvas.js in a script: the page around the canvas then offers to open the address.", "a canvas cannot navigate to another server: %s", short(r.to))
		return
	}
	l.refer(r)
}

// imported checks an import: a path, or the name of a package.
func (l *linter) imported(r reference) {
	if remote(r.to) || strings.HasPrefix(r.to, "/") || strings.HasPrefix(r.to, "./") || strings.HasPrefix(r.to, "../") || otherScheme.MatchString(r.to) {
		l.refer(r)
		return
	}
	if len(l.packages) < maxFindings {
		l.packages = append(l.packages, Finding{r.file, r.line, SeverityError, "it imports the package " + short(r.to) + ", which browsers cannot find",
			"Import a file by its path, bundle the package, or map the name in an import map."})
	}
}

var (
	otherScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	drive       = regexp.MustCompile(`^([A-Za-z]:[\\/]|\\\\|(?i:file:))`)
	diskPath    = regexp.MustCompile(`^/(home|Users|tmp|var|mnt|media|opt|usr|root|etc|private|Volumes)/`)
)

// remote reports whether an address is on another server.
func remote(to string) bool {
	to = strings.ToLower(strings.TrimSpace(to))
	return strings.HasPrefix(to, "//") || slices.ContainsFunc([]string{"http:", "https:", "ws:", "wss:", "ftp:"}, func(s string) bool { return strings.HasPrefix(to, s) })
}

// refer checks a reference to a resource that a page loads.
func (l *linter) refer(r reference) {
	to := strings.TrimSpace(r.to)
	switch {
	case remote(to):
		l.add(r.file, r.line, SeverityError, "Copy it into the folder and refer to the copy.", "it loads from another server, which a canvas cannot do: %s", short(to))
		return
	case drive.MatchString(to):
		l.add(r.file, r.line, SeverityError, "Copy it into the folder and refer to it by a relative path.", "it refers to a path of this machine: %s", short(to))
		return
	case to == "", strings.HasPrefix(to, "#"), otherScheme.MatchString(to), strings.ContainsAny(to, "{}"): // the last belongs to a template
		return
	}
	to, _, _ = strings.Cut(to, "#")
	to, _, _ = strings.Cut(to, "?")
	to, err := url.PathUnescape(to)
	if err != nil || to == "" {
		return
	}
	whole := to
	if !strings.HasPrefix(to, "/") {
		whole = path.Dir("/"+r.file) + "/" + to
	}
	l.local(r, strings.TrimPrefix(path.Clean(whole), "/"), strings.HasSuffix(to, "/"), diskPath.MatchString(to))
}

// local checks a reference to a file of the folder; name is "" for the folder.
func (l *linter) local(r reference, name string, dir, onDisk bool) {
	if name == ".ahp/canvas.js" {
		return
	}
	if dir || name == "" {
		name = path.Join(name, "index.html")
	}
	l.named[name] = true
	info, err := fs.Stat(l.fsys, name)
	switch {
	case strings.HasPrefix(name, ".") || strings.Contains(name, "/."):
		l.add(r.file, r.line, SeverityError, "Rename it so that no name in its path begins with a dot.", "%s is not served, because a name in its path begins with a dot", name)
	case name == ManifestName:
		l.add(r.file, r.line, SeverityError, "Put what the page needs into another file.", "%s is not served to pages", name)
	case err != nil && onDisk:
		l.add(r.file, r.line, SeverityError, "Copy it into the folder and refer to it by a relative path.", "it refers to a path of this machine: %s", short(r.to))
	case err != nil:
		l.add(r.file, r.line, SeverityError, "Write the file, or correct the name.", "%s does not exist", name)
	case info.IsDir():
		l.add(r.file, r.line, SeverityError, "Add a slash, or name a file.", "%s is a folder, which is served only with a slash at the end", name)
	case info.Size() > maxServed:
		l.add(r.file, r.line, SeverityError, "Split it, or make it smaller.", "%s has %d bytes; a file can have at most %d", name, info.Size(), maxServed)
	}
}

// group returns the text of the group that matched.
func group(text string, at []int) string {
	for i := 2; i < len(at); i += 2 {
		if at[i] >= 0 {
			return text[at[i]:at[i+1]]
		}
	}
	return ""
}

// blank replaces matches by spaces, so that offsets stay valid.
func blank(text string, what *regexp.Regexp) string {
	return what.ReplaceAllStringFunc(text, spaces)
}

// blankScripts blanks the text of scripts and keeps their tags.
func blankScripts(text string) string {
	b := []byte(text)
	for _, at := range htmlScript.FindAllStringSubmatchIndex(text, -1) {
		copy(b[at[4]:at[5]], spaces(text[at[4]:at[5]]))
	}
	return string(b)
}

func spaces(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return string(b)
}

// short shortens a quotation from a file.
func short(s string) string {
	const most = 100
	if r := []rune(strings.ToValidUTF8(s, "\uFFFD")); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
