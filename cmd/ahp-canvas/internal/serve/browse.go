package serve

import (
	"context"
	"os/exec"
	"runtime"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// opener returns the program that opens a link in the person's browser, or nil if there is
// no display.
func opener(getenv func(string) string, system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return []string{"xdg-open"}
}

// browseEvery is how often the host is asked whether its first canvas is open.
const browseEvery = 250 * time.Millisecond

// browse opens the person's browser once, when the first canvas is open and no page looks.
// It opens an invitation, because other users can see the arguments of a process. It
// returns when it has done so, or ctx is canceled.
func browse(ctx context.Context, env *term.Env, h *host.Host) {
	command := opener(env.Getenv, runtime.GOOS)
	if command == nil {
		return
	}
	ticker := time.NewTicker(browseEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		open, err := h.Canvases().ListOpen(host.DefaultSession)
		if err != nil || len(open) == 0 {
			continue
		}
		if h.People(host.DefaultSession) > 0 {
			return
		}
		link, err := h.Invite(host.DefaultSession, host.RoleView, "the browser of this machine")
		if err == nil && link != "" {
			err = launch(append(command, link))
		}
		if err != nil {
			env.Note("the browser was not opened: " + command[0] + " failed; open the link instead")
		}
		return
	}
}

// launch starts a program that outlives this one: it might be the person's browser.
func launch(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
