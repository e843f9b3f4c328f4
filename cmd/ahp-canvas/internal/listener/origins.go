package listener

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// CheckOrigins checks the values of --origin and of --content-origin, which can be empty.
func CheckOrigins(origins []string, content string) error {
	for _, origin := range origins {
		if _, err := web.New(web.Options{AppOrigins: []string{origin}}); err != nil {
			return term.Usagef("--origin: %s", strings.TrimPrefix(err.Error(), "web: "))
		}
	}
	if _, err := web.New(web.Options{AppOrigins: []string{"http://localhost"}, ContentOrigin: content}); err != nil {
		return term.Usagef("--content-origin: %s", strings.TrimPrefix(err.Error(), "web: "))
	}
	return nil
}
