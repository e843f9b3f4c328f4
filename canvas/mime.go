package canvas

// contentTypes maps file extensions to media types. The operating system's table
// differs between machines.
var contentTypes = map[string]string{
	".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml",
	".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript", ".map": "application/json",
	".json": "application/json", ".webmanifest": "application/manifest+json", ".jsonl": "application/jsonl",
	".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon", ".bmp": "image/bmp",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".m4a": "audio/mp4", ".flac": "audio/flac",
	".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime", ".vtt": "text/vtt",
	".wasm": "application/wasm", ".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip",
	".glb": "model/gltf-binary", ".gltf": "model/gltf+json",
}

const unknownType = "application/octet-stream"

// ContentType returns the media type for a path's extension, or
// application/octet-stream for an unknown extension.
func ContentType(p ContentPath) string {
	if t := contentTypes[p.Ext()]; t != "" {
		return t
	}
	return unknownType
}
