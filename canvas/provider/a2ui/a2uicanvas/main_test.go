package a2uicanvas_test

import (
	"os"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

func TestMain(m *testing.M) { os.Exit(webtest.Main(m)) }
