package inhead_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ahp-canvas/ahp-canvas/canvas/inhead"
)

const (
	marker = "data-ours"
	script = `<script data-ours>go()</script>`
)

// cases name the place with "|".
var cases = map[string]string{
	"head":                   `<!doctype html><html><head>|<title>x</title></head>`,
	"attributes":             `<html><head lang="en" data-x='>'>|<meta charset=utf-8>`,
	"upper case":             `<HTML><HEAD>|`,
	"self-closing":           `<head/>|<p>`,
	"doctype and no head":    `<!DOCTYPE html>|<p>hi`,
	"html and no head":       `<!doctype html><html lang="en">|<body>hi`,
	"nothing":                `|<div id="app"></div>`,
	"text":                   `|hello <head>`,
	"empty":                  `|`,
	"comment first":          `<!-- <head> --><!doctype html><html><head>|`,
	"comment, then a body":   `|<!-- <head> --><p>x`,
	"in a script":            `|<script>"<head>"</script><head>`,
	"in an attribute":        `|<p title="<head>"><head>`,
	"byte order mark":        "\ufeff|<p>x",
	"mark and head":          "\ufeff<!doctype html><head>|<p>x",
	"white space":            "\n\t <html>\n <head>|\n",
	"unfinished":             `|<head`,
	"ignored end tag":        `</p><head class=a>|`,
	"closed":                 `<html>|</head><head>`,
	"processing instruction": `<?xml version="1.0"?><!doctype html><head>|`,
	"two html tags":          `<html>|<html lang=a><p>`,
	"fragment with a header": `|<header>x</header>`,
	"conditional comment":    `<!--[if IE]><head><![endif]--><html>|<body>`,
}

func TestPlace(t *testing.T) {
	for name, c := range cases {
		before, after, _ := strings.Cut(c, "|")
		if got, want := string(inhead.Insert([]byte(before+after), []byte(script), marker)), before+script+after; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestTwiceIsOnce: also behind a head, and whatever the marked script contains.
func TestTwiceIsOnce(t *testing.T) {
	for name, c := range cases {
		once := inhead.Insert([]byte(strings.Replace(c, "|", "", 1)), []byte(script), marker)
		if twice := inhead.Insert(once, []byte(script), marker); !bytes.Equal(once, twice) {
			t.Errorf("%s: twice gives %q", name, twice)
		}
	}
	other := []byte(`<head><script data-other></script>`)
	if got := inhead.Insert(other, []byte(script), marker); !bytes.Contains(got, []byte(script)) {
		t.Error("another script counts as ours")
	}
}

// TestInvalidUTF8 becomes U+FFFD, and nothing else changes.
func TestInvalidUTF8(t *testing.T) {
	got := inhead.Insert([]byte("<head><p>a\xffb\r\nč"), []byte(script), marker)
	if want := "<head>" + script + "<p>a\uFFFDb\r\nč"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// tree renders what a browser builds, without our script, comments, and white space
// outside of elements that show it.
func tree(t testing.TB, doc []byte) string {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(bytes.TrimPrefix(doc, []byte("\ufeff"))))
	if err != nil {
		t.Skip(err)
	}
	var b strings.Builder
	var write func(n *html.Node)
	write = func(n *html.Node) {
		switch {
		case n.Type == html.CommentNode, n.Type == html.TextNode && strings.Trim(n.Data, "\t\n\f\r ") == "", isOurs(n):
			return
		case n.Type == html.TextNode && n.Parent != nil && n.Parent.Data == "body":
			b.WriteString("text:" + strings.TrimLeft(n.Data, "\t\n\f\r ") + "\n")
		default:
			b.WriteString(string(rune('0'+n.Type)) + ":" + n.Data + "\n")
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key + "=" + a.Val + "\n")
			}
		}
		for c := range n.ChildNodes() {
			write(c)
		}
		b.WriteString("end\n")
	}
	write(root)
	return b.String()
}

func isOurs(n *html.Node) bool {
	return n.Type == html.ElementNode && n.Data == "script" && len(n.Attr) == 1 && n.Attr[0].Key == marker
}

// FuzzInsert: the tree stays, and inserting twice is inserting once.
func FuzzInsert(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(strings.Replace(c, "|", "", 1)))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if bytes.Contains(doc, []byte(marker)) || bytes.ContainsAny(doc, "\x00\r") || len(doc) > 4096 {
			t.Skip() // the parser of this test treats NUL and CR differently at the start of a document
		}
		if bytes.LastIndexByte(doc, '<') > bytes.LastIndexByte(doc, '>') {
			t.Skip() // an unfinished doctype cannot stay first
		}
		once := inhead.Insert(doc, []byte(script), marker)
		if twice := inhead.Insert(once, []byte(script), marker); !bytes.Equal(once, twice) {
			t.Errorf("twice gives %q, once %q", twice, once)
		}
		before := tree(t, bytes.ToValidUTF8(doc, []byte("\uFFFD")))
		if after := tree(t, once); before != after {
			t.Errorf("the tree of %q became\n%s, was\n%s", doc, after, before)
		}
	})
}
