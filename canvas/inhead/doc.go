// Package inhead inserts a script into an HTML document of another author, so
// that it runs before every script of the document.
//
// # Guarantees
//
//   - An HTML tokenizer finds the place, so comments, scripts and attribute values that
//     contain "<head>" do not mislead it: directly after the first <head> start tag,
//     otherwise after the first <html>, otherwise after the doctype, otherwise at the
//     start, after a byte order mark.
//   - A browser builds the same tree as before, apart from the inserted script, and from
//     white space and comments beside it. The doctype stays first, so a page in standards
//     mode stays there.
//   - All other bytes stay, except that bytes that are not UTF-8 become U+FFFD.
//
// The package reads at most the start of a document, and keeps no state. It imports the
// standard library and the HTML tokenizer of golang.org/x/net.
package inhead
