package session

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

// pageBytes limits a page of ListSessions that has no other limit, in bytes. The usual
// list is far shorter.
const pageBytes = 1 << 20

// ListSessions handles the request of that name (ahp/PROTOCOL.md section 1a).
func (s *Service) ListSessions(_ context.Context, _ *channels.Subscriber, p ListSessionsParams) (ListSessionsResult, error) {
	after, err := p.position()
	if err != nil {
		return ListSessionsResult{}, err
	}
	var rows []row
	s.log.View(func(tx *channels.ReadTx) { rows = s.catalog.rows(tx) })
	slices.SortFunc(rows, newestFirst)
	if after != nil {
		from, found := slices.BinarySearchFunc(rows, *after, newestFirst)
		if found {
			from++
		}
		rows = rows[from:]
	}
	result := ListSessionsResult{Items: make([]SessionSummary, 0, len(rows))}
	size := 0
	for i, r := range rows {
		size += r.summary.size()
		if i > 0 && (size > pageBytes || p.Limit != nil && i >= *p.Limit) {
			next := rows[i-1].cursor()
			result.NextCursor = &next
			break
		}
		result.Items = append(result.Items, r.summary)
	}
	return result, nil
}

// size estimates the length of the encoded summary, in bytes.
func (s *SessionSummary) size() int {
	n := 320 + len(s.Resource) + len(s.Title) + len(s.Project) + len(s.Annotations)
	if s.Activity != nil {
		n += len(*s.Activity)
	}
	if s.WorkingDirectory != nil {
		n += len(*s.WorkingDirectory)
	}
	return n
}

// cursor returns the position of a row in the order of newestFirst.
func (r *row) cursor() string {
	at := fmt.Sprintf("%d %d %s", r.entry.modified.UnixNano(), r.entry.order, r.summary.Resource)
	return base64.RawURLEncoding.EncodeToString([]byte(at))
}

// position returns the position of the cursor, or nil without one.
func (p *ListSessionsParams) position() (*row, error) {
	if p.Cursor == nil {
		return nil, nil
	}
	r := &row{}
	var nanos int64
	b, err := base64.RawURLEncoding.DecodeString(*p.Cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(b), "%d %d", &nanos, &r.entry.order)
	}
	parts := strings.SplitN(string(b), " ", 3)
	if err != nil || len(parts) < 3 {
		return nil, ahp.Errorf(ahp.CodeInvalidParams, "listSessions: /cursor: not a nextCursor of this host")
	}
	r.entry.modified, r.summary.Resource = time.Unix(0, nanos), parts[2]
	return r, nil
}

// newestFirst orders sessions by their last modification.
func newestFirst(a, b row) int {
	return cmp.Or(b.entry.modified.Compare(a.entry.modified), cmp.Compare(b.entry.order, a.entry.order),
		cmp.Compare(a.summary.Resource, b.summary.Resource))
}
