package board

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// ExtensionID is under which extension a host registers the board.
const ExtensionID = "board"

// CanvasID is the canvas that it declares.
const CanvasID = "board"

//go:embed declaration.json
var declaration []byte

//go:embed page
var page embed.FS

// Declaration is what the board declares.
func Declaration() canvas.Declaration {
	var d canvas.Declaration
	if err := ahp.Unmarshal(declaration, &d); err != nil {
		panic(err) // it is embedded
	}
	return d
}

// New returns the provider of boards.
func New() canvas.Provider { return canvas.Func(open) }

// input is what a board is opened with.
type input struct {
	Title *string  `json:"title,omitzero"`
	Lists []string `json:"lists,omitzero"`
}

// saved is what outlives a provider's generation.
type saved struct {
	Board State     `json:"board"`
	Next  int       `json:"next"`
	Input ahp.Value `json:"input,omitzero"` // that was applied last
}

// instance is one open board.
type instance struct {
	h     *canvas.Handle
	files fs.FS

	mu    sync.Mutex
	board board
	input ahp.Value // that was applied last
}

func open(_ context.Context, req canvas.OpenRequest, h *canvas.Handle) (canvas.Opened, error) {
	files, err := fs.Sub(page, "page")
	if err != nil {
		return canvas.Opened{}, err
	}
	i, live := req.Current.(*instance)
	if !live {
		i = &instance{h: h, files: files}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !live {
		if err := i.restore(req.Saved); err != nil {
			return canvas.Opened{}, err
		}
	}
	if err := i.apply(req); err != nil {
		return canvas.Opened{}, err
	}
	return canvas.Opened{Instance: i, URL: h.ContentURL("/"), Title: i.board.Title, Status: i.status()}, nil
}

// restore reads what was saved; without that it is a new board.
func (i *instance) restore(b []byte) error {
	i.board.State = State{Title: "Board", Lists: []List{}}
	if b == nil {
		return nil
	}
	var s saved
	if err := ahp.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("the saved board cannot be read: %w", err)
	}
	i.board, i.input = board{s.Board, s.Next}, s.Input
	return nil
}

// apply brings the board to what it is opened with: a title, and lists that are
// missing. An input that was applied before changes nothing, so that a board
// that is opened again keeps what the person made of it.
func (i *instance) apply(req canvas.OpenRequest) error {
	if i.board.Revision > 0 && (req.Input == nil || ahp.Equal(req.Input, i.input)) {
		return nil
	}
	var in input
	if req.Input != nil {
		if err := ahp.Unmarshal(req.Input, &in); err != nil {
			return err
		}
	}
	if i.board.Revision == 0 && in.Lists == nil {
		in.Lists = []string{"To do", "Doing", "Done"}
	}
	after := board{i.board.clone(), i.board.next}
	if in.Title != nil {
		name, err := title("the board's title", *in.Title)
		if err != nil {
			return err
		}
		after.Title = name
	}
	for _, name := range in.Lists {
		if _, err := after.list(name); err == nil {
			continue
		}
		if _, err := after.addList(addList{Title: name}); err != nil {
			return err
		}
	}
	if err := after.check(); err != nil {
		return err
	}
	after.Revision++
	i.input = req.Input
	return i.changed(after)
}

// Invoke runs an action of the agent.
func (i *instance) Invoke(_ context.Context, name string, input ahp.Value) (ahp.Value, error) {
	value, _, err := i.run(name, input)
	if err != nil {
		return nil, err
	}
	return ahp.Marshal(value)
}

// run is the one way in which a board changes, for agents and people.
func (i *instance) run(name string, input ahp.Value) (value any, changed bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	after, value, err := i.board.run(name, input)
	if err != nil || after.Revision == i.board.Revision {
		return value, false, err
	}
	return value, true, i.changed(after)
}

// changed makes a board the one that holds: saved, then shown to everybody. It
// is called under the lock, so that Views hear states in the order of revisions.
func (i *instance) changed(after board) error {
	if err := i.h.Save(ahp.MustMarshal(saved{after.State, after.next, i.input})); err != nil {
		return err
	}
	i.board = after
	if err := i.h.Post(stateMessage(after.State)); err != nil {
		return err
	}
	return i.h.Update(canvas.Update{Title: ahp.Set(after.Title), Status: ahp.Set(i.status())})
}

func (i *instance) status() string {
	all, done := i.board.counts()
	if all == 0 {
		return "No cards yet"
	}
	return fmt.Sprintf("%d of %d done", done, all)
}

// Close needs nothing: the handle's end is the board's.
func (i *instance) Close(context.Context) error { return nil }

// Read serves the page.
func (i *instance) Read(_ context.Context, req canvas.ReadRequest) (canvas.Content, error) {
	return canvas.ReadFile(i.files, req)
}
