// Package site is the side of AAM that agents use: a site that publishes a manifest, lets
// agents in with a person's consent, and runs their calls. The package is usable alone,
// with net/http: a [Config], an [Executor] that runs the actions, and a [Store]. Package
// aamcanvas runs canvas actions with it, and shows it to the host's owner.
//
// # Guarantees
//
//   - An action runs only after the call's count and payment are on disk. Of parallel calls
//     one gets the last count; a payment is taken once, also after a restart. Counts are
//     never below what ran.
//   - A token is for one user, one vendor and a list of actions. Only its hash is kept, and
//     that of codes. A revoked token is refused from then on, also after a restart; a call
//     that runs is not interrupted.
//   - A code is good once, for 10 minutes. If it is used twice, two parties know it, and
//     the token of the first use is revoked. 60 wrong tries a minute are answered.
//   - Every call of an action is a row of the audit, without address, parameters or name. A
//     call during which the host ended is "unknown".
//   - Pages of other sites cannot use the site, and can neither frame nor file a request.
//   - The log has no secrets.
//
// # A call
//
// The checks have an order: is the action known (404), the credential good (401) and for
// this vendor and action (403), do the parameters fit (400), is a call left (429), is the
// price allowed (403), is it paid (402). Then count, payment and row are taken in one
// commit, the payment is collected or kept, and the action runs.
//
// # Payments
//
// "Verified" means that the signature is right. With a facilitator, a payment is collected
// before its action runs. Without one it is kept, and the site has not been paid
// before [Site.Collect]. A [Rail] takes other kinds of payment; [Checkout] is one.
//
// # Where to look
//
// config.go reads the configuration; http.go and page.go are the surface, call.go and
// take.go a call, token.go codes and tokens, request.go those who ask, identity.go AAM ID,
// rail.go and x402.go payments, kept.go the batch, audit.go the rows, store.go the journal.
//
// The package imports ahp, canvas/jsonschema, and aam with its packages x402 and aamid.
package site
