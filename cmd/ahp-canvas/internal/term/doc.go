// Package term is what the commands of ahp-canvas share about the process and the
// terminal: standard streams, printed text and JSON, errors and exit statuses.
//
// # What it promises
//
//   - Standard output holds the result: text for people, or one JSON object a line
//     with --json. Everything else goes to standard error.
//   - Text of providers, hosts and files reaches a terminal only through Printable,
//     PrintableLines, Table or Env.PrintJSON, so that no control character in it
//     drives the terminal or reorders letters.
//   - An error becomes an exit status in one place, Env.Report: 0 done, 1 failed,
//     2 wrong usage.
//   - Progress and status lines appear on terminals only.
//
// It knows no verb and imports of this module only the vocabulary: ahp, canvas and the
// error codes of canvas/mcp.
package term
