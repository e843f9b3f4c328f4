package outbound

import "net/netip"

// SetPublic replaces what the client takes for a public address.
func (c *Client) SetPublic(public func(netip.Addr) bool) { c.public = public }
