// Package token keeps the tokens of a host that can be listed, revoked and that expire.
//
// A host's own view and agent tokens are texts that its program keeps. This package keeps
// the tokens that were minted for others: an editor, a browser that opened an invitation.
// It stores their SHA-256 only, so that the file opens nothing.
//
// # What it promises
//
//   - A change is on disk, synced, before it takes effect; the file is replaced as a whole
//     and only the user can read it.
//   - Find takes no lock and compares hashes in constant time.
//   - The file is decoded strictly: an unknown member, a duplicate id or a value out of
//     range is an error, and the host does not start with half of its tokens.
//   - The number of tokens is limited, and so is the length of every text.
//
// An invitation is good once, for ten minutes: Redeem exchanges it for a token of one
// browser.
//
// It imports the vocabulary (ahp) and the roles (ahp/access).
package token
