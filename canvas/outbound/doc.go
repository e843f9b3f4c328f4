// Package outbound is an HTTP client for addresses that others choose: a site that an
// agent names, a picture in a message. It reaches the open web and nothing of the
// machine or the network that the host runs in.
//
// # Guarantees
//
//   - Requests are https, without a user name in the URL. With Options.Loopback they can
//     also be http or https for localhost, 127.0.0.1 and [::1], and a connection for these
//     names stays on this machine.
//   - A connection goes to a public address only. The address is checked when the
//     connection is made, after the name was resolved, so a name that changes its address
//     in between gains nothing.
//   - If Options.Origins is not empty, only these origins are requested.
//   - A redirect stays at the origin of the request, or goes to an origin of
//     Options.Origins, with GET or HEAD and without the headers that the caller set, except
//     Accept. At most 3 redirects are followed.
//   - No proxy of the environment is used, and no cookies are kept.
//   - With Options.Stream no redirect is followed, and only the connection has a time limit.
//   - Otherwise Options.Timeout limits a request with its body, and 10 s the connection and the
//     header. A header has at most 64 KiB; [Read] limits a body.
//   - Errors contain no URL, because URLs can contain secrets.
//
// Addresses are public if IANA's registries call them globally reachable. Addresses that
// embed an IPv4 address, such as those of NAT64 and 6to4, are not.
//
// # Ownership
//
// A Client keeps idle connections until [Client.Close]. The caller closes each response's
// body; Read does it.
//
// The package imports only the standard library.
package outbound
