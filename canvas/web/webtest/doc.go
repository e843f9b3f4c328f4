// Package webtest drives real browsers in tests: a headless Chromium with its own profile,
// its tabs and their frames, and under [Each] also Firefox and WebKitGTK.
//
// A test begins with [Start], which returns a browser; [Browser.Open] opens a tab, and
// the methods of [Page] and [Eval] work in it. They end a test that they fail, so they
// must be called from its goroutine.
//
// A test is skipped if its browser is not installed, or fails if CI=true. In -short all
// are skipped but those that call [InShort]. Each tab is closed with its test. So is the
// browser, unless the package's TestMain is [Main]: then the package's tests share one
// browser of each kind, which a package with several browser tests should do.
//
// Chromium is driven by the DevTools protocol. Firefox (by Marionette) and WebKitGTK (by
// WebKitWebDriver, on Xvfb) use the commands of W3C WebDriver. Their tabs share cookies
// and storage, and they have no flags; in Firefox [Page.Reload] bypasses the caches. Their
// popup blockers are off, and in Firefox WebRTC reaches this machine, so that a test does
// not take the browser's own restrictions for ours. Firefox evaluates expressions with
// separate globals: an ArrayBuffer made there is not one of the page's.
package webtest
