package actionsbridge

// Compiled returns how many manifests a Bridge keeps.
func Compiled(b *Bridge) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.manifests.byHash)
}

// ManifestOf returns the manifest of a runtime.
func ManifestOf(b *Bridge, id string) *Manifest {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runtimes[id].manifest
}
