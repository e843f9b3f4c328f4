package inhead

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Insert returns the document with script inserted. A document that has, at that place, a
// start tag <script> with the attribute marker is returned without a second script, so
// inserting twice is inserting once. The script must have the marker on its first tag.
func Insert(doc, script []byte, marker string) []byte {
	if !utf8.Valid(doc) {
		doc = bytes.ToValidUTF8(doc, []byte("\uFFFD"))
	}
	at := Offset(doc)
	if marked(doc[at:], marker) {
		return doc
	}
	return bytes.Join([][]byte{doc[:at], script, doc[at:]}, nil) // it does not clear what it overwrites
}

// Offset returns the place in a UTF-8 document at which Insert inserts.
func Offset(doc []byte) int {
	start := 0
	if bytes.HasPrefix(doc, byteOrderMark) {
		start = len(byteOrderMark)
	}
	best, rank, at := start, 0, start
	z := html.NewTokenizer(bytes.NewReader(doc[start:]))
	for {
		kind := z.Next()
		at += len(z.Raw())
		switch found := place(z, kind); {
		case found == foundHead:
			return at
		case found == foundOther:
			return best
		case found > rank:
			best, rank = at, found
		}
	}
}

// What a token is to Offset. Higher places win; between equal ones the first does.
const (
	foundNothing = iota // the search continues
	foundDoctype
	foundHTML
	foundHead
	foundOther // the search ends
)

func place(z *html.Tokenizer, kind html.TokenType) int {
	switch kind {
	case html.CommentToken:
		return foundNothing
	case html.TextToken:
		if len(bytes.Trim(z.Raw(), "\t\n\f\r ")) == 0 {
			return foundNothing
		}
	case html.DoctypeToken:
		if bytes.HasSuffix(z.Raw(), []byte(">")) { // it is finished
			return foundDoctype
		}
	case html.StartTagToken, html.SelfClosingTagToken:
		switch name, _ := z.TagName(); atom.Lookup(name) {
		case atom.Head:
			return foundHead
		case atom.Html:
			return foundHTML
		}
	case html.EndTagToken:
		// Before <head>, browsers ignore end tags other than these four.
		switch name, _ := z.TagName(); atom.Lookup(name) {
		case atom.Head, atom.Body, atom.Html, atom.Br:
		default:
			return foundNothing
		}
	}
	return foundOther
}

// marked reports whether a document continues with a script that has the marker.
func marked(rest []byte, marker string) bool {
	z := html.NewTokenizer(bytes.NewReader(rest))
	if z.Next() != html.StartTagToken {
		return false
	}
	name, more := z.TagName()
	if atom.Lookup(name) != atom.Script {
		return false
	}
	for more {
		var key []byte
		if key, _, more = z.TagAttr(); string(key) == marker {
			return true
		}
	}
	return false
}

// maxTitle is how many bytes of a document Title looks at.
const maxTitle = 256 << 10

// Title returns the text of the document's first <title>; "" if there is none near the
// start.
func Title(doc []byte) string {
	z := html.NewTokenizer(bytes.NewReader(doc[:min(len(doc), maxTitle)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			switch name, _ := z.TagName(); atom.Lookup(name) {
			case atom.Title:
				if z.Next() == html.TextToken {
					return string(bytes.ToValidUTF8(z.Text(), []byte("\uFFFD")))
				}
				return ""
			case atom.Svg, atom.Body:
				return "" // titles in there are not the document's
			}
		}
	}
}
