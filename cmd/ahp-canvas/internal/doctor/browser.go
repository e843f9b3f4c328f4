package doctor

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/ahp-canvas/ahp-canvas/canvas/look"
)

// browser is a program that can show the page.
type browser struct {
	name     string
	headless func(profile string) []string // arguments for a start without a window
	leak     string                        // what a hostile canvas can reach in it; "" if nothing
}

// browsers are those that are looked for, in this order.
var browsers = func() (all []browser) {
	for _, name := range look.Programs {
		all = append(all, browser{name, chromiumArgs, ""})
	}
	return append(all, firefoxes...)
}()

var firefoxes = []browser{
	{"firefox", firefoxArgs, webRTCLeak}, {"firefox-esr", firefoxArgs, webRTCLeak}, {"/Applications/Firefox.app/Contents/MacOS/firefox", firefoxArgs, webRTCLeak},
}

const webRTCLeak = "in Firefox a canvas can reach servers by WebRTC, which no page can prevent"

// checkBrowser looks for a browser and checks its service workers.
func (d *doctor) checkBrowser(ctx context.Context) {
	const check = "service worker"
	b, ok := findBrowser()
	if !ok {
		d.warn("browser", "neither Chromium, Chrome nor Firefox is on the PATH",
			"Open the page on another machine, or in another browser that has service workers.")
		d.warn(check, "not checked: it takes Chromium, Chrome or Firefox", "")
		return
	}
	if b.leak == "" {
		d.ok("browser", "%s", b.name)
	} else {
		d.warn("browser", b.name+": "+b.leak,
			"If you do not trust a canvas, set media.peerconnection.enabled to false in about:config, or open the page in Chromium or Chrome.")
	}
	done := d.env.Progress("Checking the browser's service workers")
	result, err := probeServiceWorker(ctx, b)
	done()
	switch {
	case err != nil:
		d.warn(check, "not checked: "+err.Error(), "Open the page to see: it says so if it has no service worker.")
	case result != "ok":
		d.fail(check, "the browser registers none for *.localhost: "+result,
			"Allow service workers for this machine in the browser's settings or policy; until then each canvas is shown as a single document.")
	default:
		d.ok(check, "a headless browser loaded a test page through one; the host's canvases were not opened")
	}
}

func findBrowser() (browser, bool) {
	for _, b := range browsers {
		if path, err := exec.LookPath(b.name); err == nil {
			b.name = path
			return b, true
		}
	}
	return browser{}, false
}

// run shows an address without a window, with a new profile, until ctx is canceled.
func (b browser) run(ctx context.Context, address string) error {
	profile, err := os.MkdirTemp("", "ahp-canvas-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile)
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPrefs), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.name, append(b.headless(profile), address)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // so that it ends its own processes
	cmd.WaitDelay = timeout
	err = cmd.Run()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func chromiumArgs(profile string) []string {
	args := []string{"--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--disable-background-networking",
		"--no-proxy-server", "--remote-debugging-port=0", "--user-data-dir=" + profile}
	if os.Getuid() == 0 {
		args = append(args, "--no-sandbox") // as root it does not start with a sandbox; the page is doctor's own
	}
	return args
}

func firefoxArgs(profile string) []string {
	return []string{"--headless", "--no-remote", "--profile", profile}
}

// firefoxPrefs keep Firefox, which reads them in its profile, from the network and from
// asking questions.
const firefoxPrefs = `user_pref("network.proxy.type", 0);
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("datareporting.policy.firstRunURL", "");
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
`
