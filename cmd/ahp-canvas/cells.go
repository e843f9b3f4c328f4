package main

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// measure counts columns. It ignores the locale, so that output is the same for all
// users: characters of ambiguous width count as one column.
var measure = &runewidth.Condition{StrictEmojiNeutral: true}

// cells returns how many columns of a terminal a text takes.
func cells(s string) int { return measure.StringWidth(s) }

// pad fills a text with spaces to a width.
func pad(s string, to int) string { return measure.FillRight(s, to) }

// cut shortens a text to a width.
func cut(text string, width int) string { return measure.Truncate(text, width, "…") }

// split breaks a text anywhere into lines of at most a width.
func split(text string, width int) []string {
	return strings.Split(measure.Wrap(text, width), "\n")
}
