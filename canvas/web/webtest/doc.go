// Package webtest drives a real browser in tests: one headless Chromium with a
// profile of its own, tabs, and the frames in them.
//
// A test that needs it is skipped where there is no Chromium, and fails where
// CI=true says that there has to be one. Every tab is closed with its test; the
// browser too, unless the package's TestMain is [Main]: its tests then share one.
package webtest
