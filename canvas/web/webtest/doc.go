// Package webtest drives real browsers in tests: a headless Chromium with a profile
// of its own, tabs, and the frames in them; and under [Each] Firefox and WebKitGTK.
//
// A test that needs one is skipped where it is not installed, and fails where CI=true
// says that there has to be one. Every tab is closed with its test; the browser too,
// unless the package's TestMain is [Main]: its tests then share one of each kind.
//
// Chromium is driven by its DevTools protocol. Firefox (by Marionette) and WebKitGTK
// (by WebKitWebDriver, under Xvfb) take the commands of W3C WebDriver; they share
// cookies and storage among tabs, know no flags, and [Page.Reload] loads past the
// caches in Firefox. In both a page may open windows unasked, and in Firefox WebRTC
// reaches this machine: a test that wants to see that stopped must not see it stopped by
// the browser's own habits. What Firefox evaluates has globals of its own: an ArrayBuffer
// that it makes is none to the page.
package webtest
