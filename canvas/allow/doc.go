// Package allow has the lists of origins that a host's operator lets canvases load from,
// besides their own: --allow-origin NAME=https://cdn.example.
//
// # Guarantees
//
//   - A list is of one NAME, the id of a canvas or of an extension, and has https and wss
//     origins alone. Each text of a list can stand in a header: it consists of lower-case
//     letters, digits and ".-:*/".
//   - A list has a [List.Label], a hash of its name and its origins. The name of a content
//     host begins with it, and everything that opens the list depends on that name: another
//     list, or another name, has another label. What a canvas says does not choose it.
//   - The zero value of [List] allows nothing, and so does the zero value of [Lists].
//
// Package web serves the content hosts and widens their policies, and a gateway that shows
// canvases elsewhere applies the same lists by [Lists.For]. Lists never change and may be
// shared.
//
// The package imports nothing of the project.
package allow
