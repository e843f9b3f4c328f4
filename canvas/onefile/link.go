package onefile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// The namespaces of what the linker reads: none of them is that of files.
const (
	ofCanvas  = "canvas"  // by content path
	ofElement = "element" // by the index of the module element
	ofEntry   = "entry"
	ofSheet   = "sheet" // the style sheet that is being linked
)

// link returns the module elements and everything that they import as one module.
func (d *document) link() (string, error) {
	return d.build(api.BuildOptions{
		EntryPoints: []string{ofEntry},
		Format:      api.FormatESModule,
		Define:      map[string]string{"import.meta.url": string(ahp.MustMarshal(origin + d.at))},
	}, d.resolveModule, d.loadModule)
}

// build runs the linker. Everything is resolved and loaded by the two functions.
func (d *document) build(o api.BuildOptions, resolve func(api.OnResolveArgs) (api.OnResolveResult, error), load func(api.OnLoadArgs) (api.OnLoadResult, error)) (string, error) {
	o.Bundle, o.Write, o.LogLevel, o.TsconfigRaw = true, false, api.LogLevelSilent, "{}"
	o.Charset, o.Target, o.Platform, o.LegalComments = api.CharsetUTF8, api.ESNext, api.PlatformBrowser, api.LegalCommentsNone
	o.MinifyWhitespace, o.MinifySyntax, o.AbsWorkingDir, o.Outdir = true, true, "/", "/"
	o.Plugins = []api.Plugin{{Name: "canvas", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: ".*"}, resolve)
		b.OnLoad(api.OnLoadOptions{Filter: ".*"}, load)
	}}}
	builder, failed := api.Context(o)
	if failed != nil {
		return "", errorf("its scripts cannot be linked: %s", failed.Errors[0].Text)
	}
	defer builder.Dispose()
	defer context.AfterFunc(d.ctx, builder.Cancel)()
	r := builder.Rebuild()
	d.mu.Lock()
	fatal := d.fatal
	d.mu.Unlock()
	switch {
	case fatal != nil:
		return "", fatal
	case d.ctx.Err() != nil:
		return "", context.Cause(d.ctx)
	case len(r.Errors) > 0:
		return "", linkError(r.Errors[0])
	case len(r.OutputFiles) != 1:
		return "", errorf("its scripts cannot be linked")
	}
	return string(r.OutputFiles[0].Contents), nil
}

// linkError says where linking failed.
func linkError(m api.Message) error {
	text := m.Text
	if l := m.Location; l != nil {
		text = fmt.Sprintf("%s (%s:%d)", text, strings.TrimPrefix(l.File, ofCanvas+":"), l.Line)
	}
	return errorf("its scripts cannot be linked: %.300s", strings.ToValidUTF8(text, "\uFFFD"))
}

func (d *document) resolveModule(a api.OnResolveArgs) (api.OnResolveResult, error) {
	switch {
	case a.Kind == api.ResolveEntryPoint:
		return api.OnResolveResult{Path: a.Path, Namespace: ofEntry}, nil
	case a.Namespace == ofEntry:
		i, _ := strconv.Atoi(a.Path)
		if src := d.modules[i].src; src != "" {
			return api.OnResolveResult{Path: src, Namespace: ofCanvas}, nil
		}
		return api.OnResolveResult{Path: a.Path, Namespace: ofElement}, nil
	}
	from := a.Importer
	if a.Namespace == ofElement {
		from = d.at
	}
	at := d.specifier(a.Path, from)
	if a.Kind == api.ResolveJSDynamicImport && (at == "" || d.absent(at)) {
		return api.OnResolveResult{Path: a.Path, External: true}, nil // fails when it runs, if it does
	}
	if at != "" {
		return api.OnResolveResult{Path: at, Namespace: ofCanvas}, nil
	}
	return api.OnResolveResult{}, fmt.Errorf("%q is not a file of the canvas", a.Path)
}

func (d *document) absent(at string) bool {
	_, err := d.file(at)
	return err != nil
}

// specifier returns the content path that an import means, or "".
func (d *document) specifier(spec, from string) string {
	if to, ok := d.imports[spec]; ok {
		return resolve(to, d.at)
	}
	prefixes := slices.SortedFunc(maps.Keys(d.imports), func(a, b string) int { return len(b) - len(a) })
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(spec, p); ok && strings.HasSuffix(p, "/") {
			return resolve(d.imports[p]+rest, d.at)
		}
	}
	if !strings.HasPrefix(spec, "/") && !strings.HasPrefix(spec, "./") && !strings.HasPrefix(spec, "../") {
		return ""
	}
	return resolve(spec, from)
}

func (d *document) loadModule(a api.OnLoadArgs) (api.OnLoadResult, error) {
	js := func(text string) (api.OnLoadResult, error) {
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
	}
	switch a.Namespace {
	case ofEntry:
		var b strings.Builder
		for i := range d.modules {
			fmt.Fprintf(&b, "import \"%d\";\n", i)
		}
		return js(b.String())
	case ofElement:
		i, _ := strconv.Atoi(a.Path)
		return js(d.modules[i].text)
	}
	c, err := d.file(a.Path)
	if err != nil {
		return api.OnLoadResult{}, fmt.Errorf("there is no file %q", a.Path)
	}
	text := string(c.Data)
	switch kind := contentType(c, a.Path); {
	case kind == "text/javascript" || kind == "application/javascript":
		return js(text)
	case kind == "application/json" && a.With["type"] == "json":
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderJSON}, nil
	default:
		return api.OnLoadResult{}, fmt.Errorf("%q is no JavaScript, but %q", a.Path, kind)
	}
}

// css returns a style sheet with what it imports and loads in it.
func (d *document) css(text, from string) (string, error) {
	if !strings.Contains(text, "url(") && !strings.Contains(text, "@import") {
		return guardStyle(text), nil
	}
	linked, err := d.build(api.BuildOptions{EntryPoints: []string{ofSheet}}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		base := a.Importer
		switch {
		case a.Kind == api.ResolveEntryPoint:
			return api.OnResolveResult{Path: a.Path, Namespace: ofSheet}, nil
		case a.Namespace == ofSheet:
			base = from
		}
		at := resolve(a.Path, base)
		if at == "" || strings.HasPrefix(a.Path, "#") {
			return api.OnResolveResult{Path: a.Path, External: true}, nil // the renderer's policy refuses it
		}
		return api.OnResolveResult{Path: at, Namespace: ofCanvas}, nil
	}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
		if a.Namespace == ofSheet {
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderCSS}, nil
		}
		return d.loadForSheet(a.Path)
	})
	return guardStyle(linked), err
}

// loadForSheet loads a file that a style sheet refers to. One that is absent is empty.
func (d *document) loadForSheet(at string) (api.OnLoadResult, error) {
	c, _, err := d.optional(at)
	if err != nil {
		return api.OnLoadResult{}, err
	}
	text := string(c.Data)
	if contentType(c, at) == "text/css" {
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderCSS}, nil
	}
	return api.OnLoadResult{Contents: &text, Loader: api.LoaderDataURL}, nil
}
