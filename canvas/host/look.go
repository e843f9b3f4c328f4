package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// Browser renders pages without a window. canvas/look has one.
type Browser interface {
	// Shoot renders a page and returns what it shows.
	Shoot(ctx context.Context, args canvas.ShotArgs) (canvas.Shot, error)
}

// The limits of a look.
const (
	maxLookViews = 16              // Views that are asked
	viewTime     = 2 * time.Second // for a View to answer
	looksAtOnce  = 8               // looks that ask Views at a time

	defaultLookWidth, defaultLookHeight = 1280, 800
	minLookSize, maxLookSize            = 100, 2560
)

// noBrowser tells an agent how to get pictures.
const noBrowser = "the host has no browser for pictures: install Chromium or Chrome, or start the host with --browser PATH"

// Look returns what people see of an open canvas: its Views, an outline and the problems
// of the page, and a picture if Options.Browser is set (canvas/PROTOCOL.md section 7.2).
// The Views show the person that the agent looked. Of a canvas that a person made private,
// it returns only what lists of open canvases say.
func (h *Host) Look(ctx context.Context, args canvas.LookArgs) (canvas.Look, error) {
	if err := checkLook(args); err != nil {
		return canvas.Look{}, err
	}
	open, err := h.openCanvas(args.Session, args.InstanceID)
	if err != nil {
		return canvas.Look{}, err
	}
	select {
	case h.looks <- struct{}{}:
		defer func() { <-h.looks }()
	case <-ctx.Done():
		return canvas.Look{}, ctx.Err()
	}
	l := canvas.Look{
		InstanceID: open.InstanceID, CanvasID: open.CanvasID, Title: open.Title, Status: open.Status,
		Availability: open.Availability, Views: []canvas.LookView{}, Problems: []canvas.Problem{},
	}
	if open.IsPrivate {
		l.Hide()
		return l, nil
	}
	h.history.Add(args.Session, canvas.Happening{
		Who:  canvas.Actor{Kind: canvas.ActorAgent, Name: canvas.Caller(ctx)},
		What: "looked at the canvas", InstanceID: open.InstanceID, Title: cmp.Or(open.Title, open.DisplayName, open.InstanceID),
	})
	h.askViews(ctx, open, &l)
	if !args.NoPicture || l.Source == "" {
		h.addPicture(ctx, args, &l)
	}
	// The person might have decided while the look ran.
	if open, err = h.openCanvas(args.Session, args.InstanceID); err != nil || open.IsPrivate {
		l.Hide()
		l.IsPrivate = err == nil
	}
	return l, ctx.Err()
}

func checkLook(args canvas.LookArgs) error {
	invalid := func(path, text string) error {
		return &canvas.Error{Code: canvas.CodeInputInvalid, Path: path, Rule: "limit", Message: text}
	}
	for path, n := range map[string]int{"/width": args.Width, "/height": args.Height} {
		if n != 0 && (n < minLookSize || n > maxLookSize) {
			return invalid(path, fmt.Sprintf("%d pixels: want %d to %d", n, minLookSize, maxLookSize))
		}
	}
	if args.Theme != "" && args.Theme != "light" && args.Theme != "dark" {
		return invalid("/theme", fmt.Sprintf("%q: want light or dark", args.Theme))
	}
	if args.Wait < 0 || args.Wait > canvas.MaxLookWait {
		return invalid("/wait", fmt.Sprintf("want 0 to %v seconds", canvas.MaxLookWait.Seconds()))
	}
	return nil
}

func (h *Host) openCanvas(session, instanceID string) (canvas.OpenCanvas, error) {
	all, err := h.canvases.ListOpen(session)
	if err != nil {
		return canvas.OpenCanvas{}, err
	}
	i := slices.IndexFunc(all, func(o canvas.OpenCanvas) bool { return o.InstanceID == instanceID })
	if i < 0 {
		return canvas.OpenCanvas{}, canvas.Errorf(canvas.CodeInstanceNotFound, "no canvas %q is open", instanceID)
	}
	return all[i], nil
}

// viewsOf returns the connections that render a canvas, the newest first, and the names of
// their people.
func (h *Host) viewsOf(open canvas.OpenCanvas) (views []*channels.Subscriber, names []string) {
	h.log.View(func(tx *channels.ReadTx) {
		for _, s := range tx.Subscribers(open.Channel) {
			if s.Role != RoleLook && "client:"+s.ClientID != open.ExtensionID {
				views = append(views, s)
			}
		}
		slices.SortFunc(views, func(a, b *channels.Subscriber) int { return cmp.Compare(b.ID, a.ID) })
		for _, s := range views {
			names = append(names, s.Name)
		}
	})
	return views, names
}

// askViews adds the Views of a canvas, and what the newest one that answers says.
func (h *Host) askViews(ctx context.Context, open canvas.OpenCanvas, l *canvas.Look) {
	views, names := h.viewsOf(open)
	sights := make([]*canvas.Sight, len(views))
	var wg sync.WaitGroup
	for i, v := range views {
		if i < maxLookViews && h.server.Capabilities(v.ClientID).Has(canvas.MethodLook) {
			wg.Go(func() { sights[i] = h.askView(ctx, v.ClientID, open.Channel) })
		}
	}
	wg.Wait()
	for i, v := range views {
		view := canvas.LookView{Name: names[i], Role: v.Role, Idle: -1}
		if s := sights[i]; s != nil {
			view = canvas.LookView{Name: names[i], Role: v.Role, Width: s.Width, Height: s.Height, Theme: s.Theme, Idle: s.Idle}
			if l.Source == "" && s.Outline != "" {
				l.Source = "view"
				l.Take(*s)
			}
			if l.Source == "" && l.Message == "" {
				l.Message = s.Message // why the page describes no document
			}
		}
		l.Views = append(l.Views, view)
	}
}

// askView asks a View what it shows. It returns nil if there is no usable answer.
func (h *Host) askView(ctx context.Context, clientID, channel string) *canvas.Sight {
	ctx, cancel := context.WithTimeout(ctx, viewTime)
	defer cancel()
	params := struct {
		Channel string `json:"channel"`
	}{channel}
	raw, err := h.server.Call(ctx, clientID, viewTime, canvas.MethodLook, params)
	var s canvas.Sight
	if err != nil || len(raw) > maxSight || ahp.Unmarshal(raw, &s) != nil {
		return nil // it has left, or it hangs
	}
	s.Bound()
	return &s
}

// maxSight is the limit of a View's answer, in bytes.
const maxSight = 256 * 1024

// addPicture adds the picture, and what the browser's page says if no View did.
func (h *Host) addPicture(ctx context.Context, args canvas.LookArgs, l *canvas.Look) {
	address := h.lookAddress(args.Session)
	switch {
	case h.opts.Browser == nil:
		l.NoPicture = noBrowser
		return
	case address == "":
		l.NoPicture = "the host has no address on this machine at which a browser could load the page"
		return
	}
	shot, err := h.opts.Browser.Shoot(ctx, shotArgs(args, l.Views, address))
	if err != nil {
		l.NoPicture = strings.TrimPrefix(err.Error(), "look: ")
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			l.NoPicture = "the look was canceled"
		}
		return
	}
	if l.Source == "" {
		l.Source = "browser"
		l.Take(shot.Sight)
	}
	if l.Message == "" {
		l.Message = shot.Sight.Message
	}
	l.Picture, l.Width, l.Height = shot.PNG, shot.Width, shot.Height
	if shot.PNG == nil {
		l.NoPicture = cmp.Or(shot.Reason, "the picture would have more than 1 MiB: look again with a smaller width or without full")
	}
}

// shotArgs fills what the agent left out: as the newest View shows it.
func shotArgs(args canvas.LookArgs, views []canvas.LookView, address string) canvas.ShotArgs {
	s := canvas.ShotArgs{URL: address, InstanceID: args.InstanceID, Width: args.Width, Height: args.Height, Theme: args.Theme, Full: args.Full, Wait: args.Wait}
	if len(views) > 0 && s.Width == 0 && s.Height == 0 {
		s.Width, s.Height = fit(views[0].Width), fit(views[0].Height)
	}
	if len(views) > 0 && s.Theme == "" && views[0].Theme == "dark" {
		s.Theme = "dark"
	}
	s.Width, s.Height, s.Theme = cmp.Or(s.Width, defaultLookWidth), cmp.Or(s.Height, defaultLookHeight), cmp.Or(s.Theme, "light")
	if args.Progress != nil {
		s.Starting = func() { args.Progress("starting the browser for the picture") }
	}
	return s
}

// fit returns a View's size within the limits, and 0 for 0.
func fit(n int) int {
	if n == 0 {
		return 0
	}
	return min(max(n, minLookSize), maxLookSize)
}

// lookAddress returns the address of a session's page for pictures, on this machine, or "".
// Its token has the role RoleLook and lasts as long as the host.
func (h *Host) lookAddress(session string) string {
	base := h.sites.loopbackBase()
	if base == "" {
		return ""
	}
	return web.Link(base, h.opts.lookToken, session) + "&look="
}
