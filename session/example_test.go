package session_test

import (
	"fmt"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// A host creates a session and renames it.
func Example() {
	log := channels.New(channels.Options{})
	sessions := session.New(session.Options{Log: log})
	if err := sessions.Ensure("ahp-session:/default", "Default"); err != nil {
		fmt.Println(err)
		return
	}
	err := log.Update(func(tx *channels.Tx) error {
		return tx.Append("ahp-session:/default", session.TitleChanged{Title: "Plan"})
	})
	state, _ := log.State("ahp-session:/default")
	fmt.Println(err, string(ahp.MustMarshal(state)))
	// Output: <nil> {"provider":"canvas","title":"Plan","status":1,"lifecycle":"ready","activeClients":[],"chats":[]}
}
