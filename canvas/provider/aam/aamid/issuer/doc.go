// Package issuer issues AAM ID credentials: the small service that a site's own people or a
// test needs, as an http.Handler. Who a person is, the caller says; the package has no
// accounts.
//
// # Guarantees
//
//   - A credential is for one site or for "any", for one vendor, for the scopes that the
//     person saw, and ends after Options.Life.
//   - The page changes nothing when it is read. A credential needs a form that was sent from
//     this origin by a person that Options.Person knows.
//   - Reports are taken from the sites of Options.Sites alone, about people whose hash they
//     know. Reports are limited in number, and have no address of a person.
//
// # HTTP
//
//	GET  /.well-known/aam-jwks.json         the keys
//	GET  /id/connect?agent=&scopes=&site=   the page that a person reads
//	POST /id/connect                        the credential, for a person who approves
//	POST /api/aam-id/track                  {user_hash, agent_vendor, result}, from a site with its token
//	GET  /api/aam-id/reputation/{hash}      what sites have reported
//
// The package imports ahp and aamid.
package issuer
