package term

// Style marks words on a terminal. The zero Style marks nothing.
type Style struct{ on bool }

// Style returns how output can be marked: on a terminal that can do it, unless NO_COLOR is
// set. What goes to a pipe or a file is plain.
func (e *Env) Style() Style {
	return Style{IsTerminal(e.Out) && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"}
}

// Bold marks a heading or a name.
func (s Style) Bold(text string) string { return s.mark("1", text) }

// Faint marks what matters less.
func (s Style) Faint(text string) string { return s.mark("2", text) }

// Good marks a success.
func (s Style) Good(text string) string { return s.mark("32", text) }

// Bad marks a problem.
func (s Style) Bad(text string) string { return s.mark("31", text) }

// Code marks text that is typed.
func (s Style) Code(text string) string { return s.mark("36", text) }

func (s Style) mark(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
