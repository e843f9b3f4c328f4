package aap

import (
	"errors"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

const (
	ackSuffix   = ".ack"   // of the file of an acknowledgment
	maxNote     = 1024     // code points of its note
	maxAckBytes = 64 << 10 // of another writer's acknowledgment
)

// Acknowledgment says that the agent has read a record. It is kept beside the record,
// which never changes.
type Acknowledgment struct {
	// ID is the record's.
	ID string `json:"id"`
	// Timestamp is when the agent acknowledged it, in the form of a record's.
	Timestamp string `json:"timestamp"`
	// Note is a line of the agent for the person; "" if there is none.
	Note string `json:"note,omitzero"`
}

// Acknowledge keeps the agent's acknowledgment of a record; a later one replaces it.
// Watchers receive it. Its errors are *Error.
func (s *Store) Acknowledge(agent, id, note string) (Acknowledgment, error) {
	a, err := s.Agent(agent)
	if err != nil {
		return Acknowledgment{}, err
	}
	record, err := s.Record(agent, id)
	if err != nil {
		return Acknowledgment{}, err
	}
	ack := Acknowledgment{ID: id, Timestamp: s.now().UTC().Format(timeLayout), Note: OneLine(note, maxNote)}
	root, err := s.openRoot(a, false)
	if err == nil {
		err = replace(root, folder, id+ackSuffix, ahp.MustMarshal(ack))
		err = errors.Join(err, root.Close())
	}
	if err != nil {
		return Acknowledgment{}, s.failed("storing an acknowledgment", err)
	}
	s.watch.report(Change{Kind: RecordAcknowledged, Agent: a, File: pageOf(record), Acknowledgment: ack})
	return ack, nil
}

// Acknowledgments returns those that exist for the records with some ids.
func (s *Store) Acknowledgments(agent string, ids ...string) map[string]Acknowledgment {
	out := map[string]Acknowledgment{}
	a, err := s.Agent(agent)
	if err != nil {
		return out
	}
	root, err := s.openRoot(a, false)
	if err != nil {
		return out
	}
	defer root.Close()
	for _, id := range ids {
		if len(id) == 0 || len(id) > maxID || strings.Contains(id, "/") {
			continue
		}
		raw, _, err := readRegular(root, folder+"/"+id+ackSuffix, maxAckBytes)
		var ack Acknowledgment
		if err == nil && ahp.Unmarshal(raw, &ack) == nil && ack.ID == id {
			ack.Note = OneLine(ack.Note, maxNote)
			out[id] = ack
		}
	}
	return out
}
