package relay

import (
	"testing"
	"time"
)

// TestDefaults checks the defaults that the fields' comments name.
func TestDefaults(t *testing.T) {
	o := EdgeOptions{}.withDefaults()
	for name, c := range map[string]struct{ have, want any }{
		"LanesPerHost":    {o.LanesPerHost, 256},
		"LanesPerClient":  {o.LanesPerClient, 192},
		"MaxLanes":        {o.MaxLanes, 4096},
		"MaxHosts":        {o.MaxHosts, 1024},
		"HostRate":        {o.HostRate, 64.0},
		"HostBurst":       {o.HostBurst, 256},
		"LanesPerAddress": {o.LanesPerAddress, 96},
		"AddressRate":     {o.AddressRate, 8.0},
		"ClientRate":      {o.ClientRate, 16.0},
		"ClientBurst":     {o.ClientBurst, 192},
		"ClientMessage":   {o.ClientMessage, int64(4 << 20)},
		"HostMessage":     {o.HostMessage, int64(32 << 20)},
		"Handshake":       {o.Handshake, 10 * time.Second},
		"StartupGrace":    {o.StartupGrace, 10 * time.Second},
		"WriteStall":      {o.WriteStall, 20 * time.Second},
		"PingAfter":       {o.PingAfter, 30 * time.Second},
	} {
		if c.have != c.want {
			t.Errorf("%s: %v, want %v", name, c.have, c.want)
		}
	}
}
