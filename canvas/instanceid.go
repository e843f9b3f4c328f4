package canvas

// instancePattern matches instance ids (canvas/PROTOCOL.md section 2), for schemas.
// isInstanceID does the same faster.
const instancePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`

const maxInstanceID = 128

// CheckInstanceID returns an *[Error] if id is not an instance id (canvas/PROTOCOL.md
// section 2).
func CheckInstanceID(id string) error {
	if isInstanceID(id) {
		return nil
	}
	return &Error{Code: CodeInputInvalid, Path: "/instanceId", Rule: "pattern",
		Message: "an instanceId has 1 to 128 letters, digits, '.', '_' and '-', and begins with a letter or digit"}
}

func isInstanceID(id string) bool {
	if id == "" || len(id) > maxInstanceID {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return true
}
