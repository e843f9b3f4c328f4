package term

import (
	"maps"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// causes say what has happened, for each code of the host and of this program. A test finds
// codes that are missing here.
var causes = map[string]string{
	canvas.CodeNotFound:            "No canvas is declared under this id.",
	canvas.CodeInstanceNotFound:    "No canvas is open under this instance id.",
	canvas.CodeSessionNotFound:     "The host has no such session.",
	canvas.CodeAmbiguous:           "Several extensions declare a canvas with this id.",
	canvas.CodeAlreadyOpen:         "The instance id is in use by another canvas, or the canvas is open with another input.",
	canvas.CodeInputInvalid:        "The input does not fit the schema that the canvas declares; the error names the place and the rule.",
	canvas.CodeNoHandler:           "The canvas has no action of this name.",
	canvas.CodeReservedActionName:  `The names of actions that begin with "canvas." belong to the protocol.`,
	canvas.CodeProviderUnavailable: "What provides the canvas cannot be reached: its program has ended, or its connection is lost.",
	canvas.CodeHandlerError:        "The provider of the canvas failed, and gave no error code.",
	canvas.CodeTimeout:             "The provider did not answer in time.",
	canvas.CodeLimitExceeded:       "A size or a number is above its limit.",
	canvas.CodeStoreFailed:         "The change could not be saved, for example because the disk is full.",
	mcp.CodeInternal:               "A fault in the host.",
	mcp.CodeUnreachable:            "Nothing answers at the host's address.",
	mcp.CodeTokenRefused:           "The host does not accept the token.",
	mcp.CodeRefused:                "The host does not understand the request.",
	mcp.CodeCanceled:               "The call was canceled before it ended.",
	CodeNoHost:                     "No host runs on this machine for this user, or none with the name.",
	CodeAmbiguousHost:              "Several hosts run, and the command could mean more than one.",
	CodeNotStarted:                 "The host could not start: its address or its state folder is in use, or a flag cannot work here.",
	CodeRelayNotStarted:            "The relay could not start: its address is in use, or a flag cannot work here.",
	CodeRelayRefused:               "The relay does not accept the host's token or name.",
	CodeOffline:                    "The relay works, and the host of the link is not connected to it.",
	CodeLinkRefused:                "The link is not good any more: its token was replaced, revoked or has expired, or the invitation was used.",
	CodeChecksFailed:               "doctor or lint found something wrong.",
	CodeFailed:                     "A failure without a code; the message describes it.",
	"cases_failed":                 "A transcript or fixture did not go as it must.",
	"extension_not_found":          "The host runs no extension of this name.",
	"file_exists":                  "The file exists, and the command overwrites nothing.",
	"interrupted":                  "The command was interrupted before it had done everything.",
	"no_terminal":                  "The command asks a person, and its input is no terminal.",
	"not_recordable":               "Nothing that speaks AHP answers at the target.",
	"not_testable":                 "The host lacks what the transcripts need, so they were not played.",
	"pin_differs":                  "The PIN was entered differently the second time.",
	"state_broken":                 "The disk refused a write, or the store was used after that.",
	"state_damaged":                "The store does not pass its checks: a file was changed, cut or mixed with another one.",
	"state_full":                   "The disk is full.",
	"state_newer":                  "A newer version of the program has written the store, in a format that this version does not know.",
	"state_not_found":              "The folder has no store.",
	"state_read_only":              "The folder or its files cannot be written.",
}

// remedies say what to do about the codes that have no hint, because the message of a failure
// says it with its own names, or that fill names into their hint.
var remedies = map[string]string{
	canvas.CodeAmbiguous:          "Choose one of them with --extension.",
	canvas.CodeReservedActionName: "Give the action another name.",
	canvas.CodeHandlerError:       "The message is the provider's. If it is an extension or an MCP server, look into its log.",
	canvas.CodeStoreFailed:        "Look at /healthz of --admin, or at the host's log, for the reason. Free space if the disk is full. Then repeat the change.",
	mcp.CodeInternal:              "The host's log has the details. Please report it.",
	mcp.CodeCanceled:              "Check the canvas before you repeat the call: it might have taken effect.",
	CodeAmbiguousHost:             "Name one with --host. ahp-canvas hosts lists them.",
	CodeNotStarted:                "Stop the other host, or choose another --listen or --state. The message names what is in use.",
	CodeRelayNotStarted:           "Stop the other program, or choose another --listen. The message names what is in use.",
	CodeRelayRefused:              "Ask the relay's operator for a new token: ahp-canvas relay token --host NAME.",
	CodeFailed:                    "Read the message.",
	"cases_failed":                "The report above names each case, with what was expected.",
	"extension_not_found":         "Choose one of the names in the message.",
	"file_exists":                 "Name another file, or remove it.",
	"interrupted":                 "Run it again to the end. The report covers what was done.",
	"no_terminal":                 "Run it at a terminal, without a pipe: no program may choose the PIN.",
	"not_recordable":              "Check the address, and that a host listens there.",
	"not_testable":                "The message names what is missing; a host needs initialize, createSession, subscribe and disposeSession.",
	"pin_differs":                 "Nothing was changed. Run it again.",
	"state_broken":                "Check the disk and the system's log, then ahp-canvas state check. Restart the host if it does not recover.",
	"state_damaged":               "Restore a backup: ahp-canvas state restore FILE. It moves the damaged store away and does not delete it.",
	"state_full":                  "Free space. A host that runs recovers without a restart.",
	"state_newer":                 "Install the newer version again, or restore a backup that this version made: ahp-canvas state restore FILE.",
	"state_not_found":             "Start a host once, or name the folder with --state.",
	"state_read_only":             "Make the folder writable for your user, or choose another one with --state.",
}

// Remedy says what to do about a code.
func Remedy(code string) string {
	if remedy := remedies[code]; remedy != "" {
		return remedy
	}
	return hints[code]
}

// Codes returns the codes of failures, sorted.
func Codes() []string { return slices.Sorted(maps.Keys(causes)) }

// Cause says what a code means.
func Cause(code string) string { return causes[code] }
