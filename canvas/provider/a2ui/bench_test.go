package a2ui

import (
	"runtime"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// BenchmarkApply: the 108 messages of the basic examples, each example on a new renderer.
func BenchmarkApply(b *testing.B) {
	var all [][]ahp.Value
	messages := 0
	for _, name := range names(b, "examples/*.json") {
		list := load[example](b, name).Messages
		all, messages = append(all, list), messages+len(list)
	}
	Basic()
	for b.Loop() {
		for _, list := range all {
			if r := NewSurfaces(Limits{}).Apply("a", list); len(r.Errors) > 0 {
				b.Fatal(r.Errors)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*messages), "ns/message")
}

// BenchmarkMessages: as BenchmarkApply, from the text of a list.
func BenchmarkMessages(b *testing.B) {
	var texts []ahp.Value
	messages := 0
	for _, name := range names(b, "examples/*.json") {
		list := load[example](b, name).Messages
		texts, messages = append(texts, ahp.Value(ahp.MustMarshal(list))), messages+len(list)
	}
	Basic()
	for b.Loop() {
		for _, text := range texts {
			list, err := Messages(text)
			if err != nil {
				b.Fatal(err)
			}
			NewSurfaces(Limits{}).Apply("a", list)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*messages), "ns/message")
}

// BenchmarkHeap: the memory of kept surfaces, against their saved bytes.
func BenchmarkHeap(b *testing.B) {
	list := load[example](b, names(b, "examples/*.json")[8]).Messages
	saved, kept := 0, []*Surfaces{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		s := NewSurfaces(Limits{})
		s.Apply("a", list)
		saved += len(s.Save())
		kept = append(kept, s)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(saved), "heap/saved")
	runtime.KeepAlive(kept)
}
