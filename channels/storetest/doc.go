// Package storetest tests implementations of channels.Store:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) func() (channels.Store, error) {
//			path := filepath.Join(t.TempDir(), "store.db")
//			return func() (channels.Store, error) { return Open(path) }
//		})
//	}
//
// It tests the requirements that do not depend on a failing machine. A batch is applied
// as a whole, and batches keep their order. Acknowledged batches exist when the store is
// opened again. Concurrent batches do not affect each other. Invalid changes and
// calls after Close fail. A model test combines all of these. An implementation tests
// crashes, full disks and damaged files itself.
//
// The package imports channels and the standard library.
package storetest
